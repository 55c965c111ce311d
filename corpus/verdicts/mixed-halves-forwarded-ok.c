// expect: safe
// models: sc tso pso armv8 riscv
// Each thread stores to its half and, behind a fence, reads the whole: one of them sees both halves.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
union {
    _Atomic uint32_t word;
    _Atomic uint16_t half[2];
} u;
uint32_t low, high;
void *first(void *unused) {
    atomic_store_explicit(&u.half[0], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    low = atomic_load_explicit(&u.word, memory_order_relaxed);
    return 0;
}
void *second(void *unused) {
    atomic_store_explicit(&u.half[1], 2, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    high = atomic_load_explicit(&u.word, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(low != 1 || high != 0x20000);
}
