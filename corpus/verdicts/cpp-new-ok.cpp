// expect: safe
int main() {
    int *p = new int(0);
    int r = *p;
    delete p;
    return r;
}
