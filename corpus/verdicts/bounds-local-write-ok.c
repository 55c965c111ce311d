// expect: safe
int main(void) {
    int a[3];
    a[2] = 1;
    return a[2] - 1;
}
