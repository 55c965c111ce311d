// expect: safe
static int *keep(void) {
    static int x = 0;
    return &x;
}
int main(void) {
    return *keep();
}
