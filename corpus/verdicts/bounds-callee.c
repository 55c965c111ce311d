// expect: memory 3
static int last(int *a, int n) {
    return a[n];
}
int main(void) {
    int a[3] = {1, 2, 3};
    return last(a, 3);
}
