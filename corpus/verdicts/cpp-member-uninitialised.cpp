// expect: memory 6
struct S { int a, b; };
int main() {
    S s;
    s.a = 1;
    return s.b;
}
