// expect: safe
int main(void) {
    int a[2] = {0, 0};
    int *p = a + 1;
    return p[-1];
}
