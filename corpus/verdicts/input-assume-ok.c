// expect: safe
#include <assert.h>
int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);
int main(void) {
    int x = __VERIFIER_nondet_int();
    __VERIFIER_assume(x >= -3 && x <= 3);
    assert(x != 4 && x != -4);
    return 0;
}
