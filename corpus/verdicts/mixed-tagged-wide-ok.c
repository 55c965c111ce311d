// expect: safe
// flags: -mcx16
// models: sc tso pso
// A double-word compare-and-swap, and loads of its halves in the order in which one proves the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
typedef struct { uint64_t index, tag; } pair;
union {
    _Atomic pair both;
    struct { _Atomic uint64_t index, tag; };
} top;
void *push(void *unused) {
    pair empty = {0, 0}, new = {7, 1};
    atomic_compare_exchange_strong(&top.both, &empty, new);
    return 0;
}
void *look(void *unused) {
    uint64_t tag = atomic_load_explicit(&top.tag, memory_order_relaxed);
    uint64_t index = atomic_load_explicit(&top.index, memory_order_relaxed);
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
