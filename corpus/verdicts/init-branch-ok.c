// expect: safe
volatile int c = 0;
int main(void) {
    int x;
    if (c) x = 1; else x = 2;
    return x - 2;
}
