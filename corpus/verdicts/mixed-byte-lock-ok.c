// expect: safe
// models: rc11 c20 sc tso pso
// A lock word is taken by a compare-and-swap of four bytes and given back by a store to one of them, as the queued
// spin lock of Linux does.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
union {
    _Atomic uint32_t word;
    struct { _Atomic uint8_t locked, pending; _Atomic uint16_t tail; };
} lock;
int counter;
void *run(void *unused) {
    uint32_t none = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock.word, &none, 1, memory_order_acquire,
                                                    memory_order_relaxed))
        none = 0;
    counter++;
    atomic_store_explicit(&lock.locked, 0, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
}
