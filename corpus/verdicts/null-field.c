// expect: memory 4
struct s { int a, b; } *p;
int main(void) {
    return p->b;
}
