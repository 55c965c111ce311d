// expect: trap 4
volatile int z = 0;
int main(void) {
    return 1 % z;
}
