// expect: safe
int *p;
static void keep(int *q) { p = q; }
int main(void) {
    int r;
    {
        int x = 0;
        keep(&x);
        r = *p;
    }
    return r;
}
