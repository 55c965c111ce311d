// expect: memory 6
static void set(int *p, int c) { if (c) *p = 3; }
int main(void) {
    int x;
    set(&x, 0);
    return x;
}
