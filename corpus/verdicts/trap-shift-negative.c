// expect: trap 4
volatile int n = -1;
int main(void) {
    return 1 >> n;
}
