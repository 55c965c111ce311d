// expect: trap 5
volatile int v = 1;
int main(void) {
    if (v)
        __builtin_unreachable();
    return 0;
}
