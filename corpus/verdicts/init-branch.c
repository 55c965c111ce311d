// expect: memory 6
volatile int c = 0;
int main(void) {
    int x;
    if (c) x = 1;
    return x + 1;
}
