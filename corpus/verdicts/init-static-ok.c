// expect: safe
static int x, a[3];
int main(void) {
    static int y;
    return x + y + a[2];
}
