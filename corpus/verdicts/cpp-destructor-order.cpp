// expect: assertion 6
#include <cassert>
int x;
struct A {
    ~A() {
        assert(x == 0);
    }
};
struct B { ~B() { x = 1; } };
int main() {
    A a;
    B b;
}
