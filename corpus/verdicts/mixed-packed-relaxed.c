// expect: assertion 21
// models: pso armv8 riscv
// As mixed-packed-ok.c, but the store of the tail orders nothing: it may come before that of the slot.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
union {
    _Atomic uint64_t both;
    struct { _Atomic uint32_t head, tail; };
} queue;
_Atomic int slot;
void *push(void *unused) {
    atomic_store_explicit(&slot, 42, memory_order_relaxed);
    atomic_store_explicit(&queue.tail, 1, memory_order_relaxed);
    return 0;
}
void *pop(void *unused) {
    uint64_t seen = atomic_load_explicit(&queue.both, memory_order_acquire);
    if ((uint32_t)seen == seen >> 32) return 0;
    assert(atomic_load_explicit(&slot, memory_order_relaxed) == 42);
    atomic_compare_exchange_strong(&queue.both, &seen, seen + 1);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, push, 0);
    pthread_create(&b, 0, pop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
