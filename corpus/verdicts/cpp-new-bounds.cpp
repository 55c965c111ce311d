// expect: memory 4
int main() {
    int *p = new int[2]();
    int r = p[2];
    delete[] p;
    return r;
}
