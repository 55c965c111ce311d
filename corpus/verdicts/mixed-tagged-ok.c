// expect: safe
// models: sc tso pso armv8 riscv
// An index and its tag are written at once and read one after the other, the tag first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
union {
    _Atomic uint64_t both;
    struct { _Atomic uint32_t index, tag; };
} top;
void *push(void *unused) {
    uint64_t empty = 0;
    atomic_compare_exchange_strong(&top.both, &empty, 1ull << 32 | 7);
    return 0;
}
void *look(void *unused) {
    uint32_t tag = atomic_load_explicit(&top.tag, memory_order_acquire);
    uint32_t index = atomic_load_explicit(&top.index, memory_order_relaxed);
    assert(tag == 0 || index == 7);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, push, 0);
    pthread_create(&b, 0, look, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
