// expect: assertion 7
// Every character is tried: only one sum is wrong.
#include <assert.h>
unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
    unsigned char c = __VERIFIER_nondet_uchar();
    assert(c * 3 + 1 != 3 * 201 + 1);
    return 0;
}
