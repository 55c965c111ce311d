// expect: memory 6
volatile int n = 3;
int main(void) {
    int m = n, a[m];
    for (int i = 0; i < m; i++) a[i] = 0;
    return a[m];
}
