// expect: memory 4
int main(void) {
    int a[3];
    a[3] = 1;
    return 0;
}
