// expect: memory 9
int *p;
static void leak(void) {
    int x = 1;
    p = &x;
}
int main(void) {
    leak();
    return *p;
}
