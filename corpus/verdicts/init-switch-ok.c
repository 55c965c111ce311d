// expect: safe
volatile int v = 3;
int main(void) {
    int x;
    switch (v) {
    case 1: x = 1; break;
    default: x = 2; break;
    }
    return x - 2;
}
