// expect: safe
struct S { int a = 1, b = 0; };
int main() {
    S s;
    return s.b;
}
