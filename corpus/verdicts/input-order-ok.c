// expect: safe
#include <assert.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x > 10 && x < 12)
        assert(x == 11);
    return 0;
}
