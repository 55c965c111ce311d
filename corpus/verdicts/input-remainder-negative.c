// expect: assertion 7
// The remainder of a negative number is negative.
#include <assert.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    int x = __VERIFIER_nondet_int() % 3;
    assert(x >= 0);
    return 0;
}
