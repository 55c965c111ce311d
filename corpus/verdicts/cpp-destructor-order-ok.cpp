// expect: safe
#include <cassert>
int x;
struct A { ~A() { assert(x == 1); } };
struct B { ~B() { x = 1; } };
int main() {
    A a;
    B b;
}
