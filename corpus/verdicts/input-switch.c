// expect: assertion 14
#include <assert.h>
unsigned __VERIFIER_nondet_uint(void);
int main(void) {
    switch (__VERIFIER_nondet_uint()) {
    case 3:
        break;
    case 70000:
        break;
    case 0:
        break;
    default:
        // Any other number.
        assert(0);
    }
    return 0;
}
