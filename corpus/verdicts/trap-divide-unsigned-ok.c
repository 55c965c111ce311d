// expect: safe
volatile unsigned a = 0x80000000u, b = -1;
int main(void) {
    return a / b;
}
