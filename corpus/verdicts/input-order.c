// expect: assertion 7
// One value between the two bounds is wrong.
#include <assert.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    assert(x <= 4711 || x >= 4713);
    return 0;
}
