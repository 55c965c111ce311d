// expect: assertion 7
// A third is not the same number in both types.
#include <assert.h>
int main(void) {
    volatile double three = 3;
    long double third = 1.0L / three;
    assert(third == 1.0 / three);
    return 0;
}
