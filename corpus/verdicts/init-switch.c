// expect: memory 9
volatile int v = 3;
int main(void) {
    int x;
    switch (v) {
    case 1: x = 1; break;
    case 2: x = 2; break;
    }
    return x + 1;
}
