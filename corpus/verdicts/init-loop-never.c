// expect: memory 6
volatile int n = 0;
int main(void) {
    int x;
    for (int i = 0; i < n; i++) x = i;
    return x + 1;
}
