// expect: assertion 9
// A negative number is a large one: signed and unsigned comparisons see different things.
#include <assert.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x < 5)
        if ((unsigned)x >= 10u)
            assert(x >= 0);
    return 0;
}
