// expect: safe
// long double has a significand of 64 bits and more exponents than double.
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
long double shared = 0x1.8p+1L;
static long double sum(int n, ...) {
    va_list list;
    va_start(list, n);
    long double total = 0;
    for (int i = 0; i < n; i++) total += va_arg(list, long double);
    va_end(list);
    return total;
}
static void *adds(void *unused) {
    shared = shared + 1.0L;
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, adds, 0);
    pthread_join(t, 0);
    assert(shared == 4);
    volatile long double tiny = 0x1p-63L, one = 1;
    assert(one + tiny > one && (double)(one + tiny) == 1.0);
    volatile long long most = 0x7fffffffffffffffll;
    assert((long long)(long double)most == most && (unsigned)(long double)4000000000u == 4000000000u);
    volatile long double huge = 1e4000L;
    assert(huge * 2 > huge && (double)huge == INFINITY && (int)(-3.7L * one) == -3);
    assert(sum(3, 1.5L, one, tiny) == 2.5L + tiny);
    assert(fabsl(-huge) == huge && floorl(-one / 2) == -1 && fmodl(7.5L, one + one) == 1.5L);
    assert(sqrtl(one + one) == 0x1.6a09e667f3bcc908p+0L && sqrtl(huge) * sqrtl(huge) > huge / 2);
    return 0;
}
