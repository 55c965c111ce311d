// expect: memory 9
int *p;
static void keep(int *q) { p = q; }
int main(void) {
    {
        int x = 1;
        keep(&x);
    }
    return *p;
}
