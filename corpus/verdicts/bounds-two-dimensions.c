// expect: memory 4
int main(void) {
    int a[2][3] = {{0, 1, 2}, {3, 4, 5}};
    return a[2][0];
}
