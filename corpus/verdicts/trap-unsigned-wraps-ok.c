// expect: safe
// Unsigned arithmetic wraps around.
#include <assert.h>
int main(void) {
    volatile unsigned a = 0xffffffffu;
    assert(a + 1 == 0);
    return 0;
}
