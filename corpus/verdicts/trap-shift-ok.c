// expect: safe
volatile int n = 31, m = 63;
int main(void) {
    return (1u << n) == 0x80000000u && (1ul << m) >> m == 1 ? 0 : 1;
}
