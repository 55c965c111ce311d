// expect: safe
int main(void) {
    int a[2] = {1, 2};
    return a[1] - 2;
}
