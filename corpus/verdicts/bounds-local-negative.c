// expect: memory 5
int main(void) {
    int a[2] = {0, 0};
    int *p = a;
    return p[-1];
}
