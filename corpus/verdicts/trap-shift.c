// expect: trap 4
volatile int n = 32;
int main(void) {
    return 1 << n;
}
