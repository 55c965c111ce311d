// expect: safe
struct s { char c; int i; };
static int sum(struct s s) { return s.c + s.i; }
int main(void) {
    struct s a;
    a.c = 1;
    a.i = 2;
    return sum(a) - 3;
}
