// expect: assertion 7
#include <assert.h>
_Bool __VERIFIER_nondet_bool(void);
int main(void) {
    _Bool a = __VERIFIER_nondet_bool();
    _Bool b = __VERIFIER_nondet_bool();
    assert(a || !b);
    return 0;
}
