/* Two threads add each other's numbers (SV-COMP): neither exceeds a Fibonacci number. */
#include "common.h"

#ifndef K
#define K 3
#endif
static atomic_int i = 1, j = 1;
static void *one(void *arg) { for (int k = 0; k < K; k++) { int a = load(&i, acq), b = load(&j, acq); store(&i, a + b, rel); } return NULL; }
static void *two(void *arg) { for (int k = 0; k < K; k++) { int a = load(&j, acq), b = load(&i, acq); store(&j, a + b, rel); } return NULL; }
static int fib(int n) { return n < 2 ? 1 : fib(n - 1) + fib(n - 2); }
int main(void) {
    spawn(one, 0);
    spawn(two, 0);
    int bound = fib(2 * K + 1);
#ifdef BUG_BOUND
    bound = fib(2 * K) - 1;
#endif
    int a = load(&i, acq), b = load(&j, acq);
    assert(a <= bound && b <= bound);
    join_all();
    return 0;
}
