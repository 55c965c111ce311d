// A lock word that is taken as a whole and given back by a store to one of its bytes: no race.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

static union {
    _Atomic uint32_t word;
    struct { _Atomic uint8_t locked, pending; _Atomic uint16_t tail; };
} lock;
static int counter;

static void add(void) {
    uint32_t none = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock.word, &none, 1, memory_order_acquire, memory_order_relaxed))
        none = 0;
    counter++;
    atomic_store_explicit(&lock.locked, 0, memory_order_release);
}

static void *work(void *unused) {
    for (int i = 0; i < 3; i++) add();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    work(0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    if (counter != 9) abort();
}
