// expect: safe
int a[2] = {1, 2}, n = 1;
int main(void) {
    return a[n] - 2;
}
