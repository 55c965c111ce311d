// expect: safe
static void set(int *p) { *p = 3; }
int main(void) {
    int x;
    set(&x);
    return x - 3;
}
