// expect: memory 4
int main() {
    int *p = new int;
    int r = *p + 1;
    delete p;
    return r;
}
