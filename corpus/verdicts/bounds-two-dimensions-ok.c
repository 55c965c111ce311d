// expect: safe
int main(void) {
    int a[2][3] = {{0, 1, 2}, {3, 4, 5}};
    return a[1][2] - 5;
}
