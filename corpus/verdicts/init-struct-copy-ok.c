// expect: safe
struct s { char c; int i; };
int main(void) {
    struct s a, b;
    a.c = 1;
    a.i = 2;
    b = a;
    return b.c + b.i - 3;
}
