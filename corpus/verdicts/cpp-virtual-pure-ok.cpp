// expect: safe
struct A { virtual int f() = 0; };
struct B : A { int f() override { return 0; } };
int main() {
    B b;
    A *a = &b;
    return a->f();
}
