// expect: safe
static int *counter(void) {
    static int n;
    return &n;
}
int main(void) {
    *counter() = 3;
    return *counter() - 3;
}
