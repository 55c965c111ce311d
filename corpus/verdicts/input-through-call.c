// expect: assertion 5
#include <assert.h>
long __VERIFIER_nondet_long(void);
static long limited(long x) { return x > 100 ? 100 : x; }
static void use(long x) { assert(x != 77); }
int main(void) {
    use(limited(__VERIFIER_nondet_long()));
    return 0;
}
