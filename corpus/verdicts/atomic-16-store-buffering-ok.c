// expect: safe
// models: rc11 c20 sc tso pso armv8 power riscv
// Store buffering with pairs of words, sequentially consistent: one of the two threads sees the store of the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct Pair { long low, high; };
static _Atomic struct Pair x, y;
static long first, second;
static void *one(void *unused) {
    atomic_store_explicit(&x, ((struct Pair){1, 2}), memory_order_seq_cst);
    struct Pair found = atomic_load_explicit(&y, memory_order_seq_cst);
    first = found.high;
    return 0;
}
static void *two(void *unused) {
    atomic_store_explicit(&y, ((struct Pair){1, 2}), memory_order_seq_cst);
    struct Pair found = atomic_load_explicit(&x, memory_order_seq_cst);
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
