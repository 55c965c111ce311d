// expect: safe
static int last(int *a, int n) {
    return a[n - 1];
}
int main(void) {
    int a[3] = {1, 2, 3};
    return last(a, 3) - 3;
}
