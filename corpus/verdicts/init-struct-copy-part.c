// expect: memory 7
struct s { int c; int i; };
int main(void) {
    struct s a, b;
    a.c = 1;
    b = a;
    return b.i;
}
