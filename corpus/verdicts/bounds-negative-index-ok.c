// expect: safe
// An index may be negative if the element is there.
int a[3] = {7, 8, 9};
int main(void) {
    int *p = a + 2;
    return p[-2] - 7;
}
