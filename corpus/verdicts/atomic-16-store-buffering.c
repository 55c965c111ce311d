// expect: assertion 28
// models: rc11 tso pso armv8 power riscv
// Store buffering with pairs of words: relaxed accesses of 16 bytes are as weak as those of 8.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct Pair { long low, high; };
static _Atomic struct Pair x, y;
static long first, second;
static void *one(void *unused) {
    atomic_store_explicit(&x, ((struct Pair){1, 2}), memory_order_relaxed);
    struct Pair found = atomic_load_explicit(&y, memory_order_relaxed);
    first = found.high;
    return 0;
}
static void *two(void *unused) {
    atomic_store_explicit(&y, ((struct Pair){1, 2}), memory_order_relaxed);
    struct Pair found = atomic_load_explicit(&x, memory_order_relaxed);
    second = found.high;
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, one, 0);
    pthread_create(&u, 0, two, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(first == 2 || second == 2);
}
