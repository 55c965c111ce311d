// wrong: assertion
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
typedef int v4 __attribute__((vector_size(16)));
union word { uint32_t whole; uint8_t byte[4]; };
static union word shared;
static int sum(int n, ...) {
    va_list list;
    va_start(list, n);
    int total = 0;
    for (int i = 0; i < n; i++) total += i % 2 ? (int)va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return total;
}
static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
int main(void) {
    assert(sum(4, 1, 2.5, 3, 4.5) == 10 && factorial(6) == 720);
    __int128 x = (__int128)3 << 100;
    assert((uint64_t)(x >> 100) == 3 && (double)x > 3.8e30 && (__int128)(double)x == x);
    assert((unsigned __int128)1e20 / 10 == 10000000000000000000ull && (float)-x < 0);
    v4 a = {1, 2, 3, 4}, b = a * a;
    assert(b[3] == 16);
    shared.whole = 0x01020304;
#ifdef WRONG
    assert(shared.byte[0] == 1);
#else
    assert(shared.byte[0] == 4);
#endif
    return 0;
}
