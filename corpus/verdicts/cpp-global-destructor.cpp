// expect: assertion 6
#include <cassert>
int x;
struct A {
    ~A() {
        assert(x == 0);
    }
} a;
int main() { x = 1; }
