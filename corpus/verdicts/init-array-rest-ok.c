// expect: safe
int main(void) {
    int a[3] = {1};
    return a[2];
}
