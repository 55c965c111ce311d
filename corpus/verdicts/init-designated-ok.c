// expect: safe
#include <assert.h>
struct s { int a, b, c; };
int main(void) {
    struct s s = {.b = 2};
    assert(s.a == 0 && s.b == 2 && s.c == 0);
    return 0;
}
