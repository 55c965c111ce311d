// expect: trap 4
volatile int n = 64;
int main(void) {
    return 1ul >> n;
}
