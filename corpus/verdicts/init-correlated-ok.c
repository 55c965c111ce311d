// expect: safe
volatile int v = 1;
int main(void) {
    int c = v, x;
    if (c) x = 0;
    if (c) return x;
    return 1;
}
