// expect: safe
// models: sc tso pso armv8 riscv
// The queued spin lock of Linux with its locked byte, its pending byte and two contenders: the one that comes second
// waits on the word, then takes the lock and leaves the pending byte with one store to both bytes.
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
    if (!atomic_compare_exchange_strong_explicit(&lock.word, &none, 1, memory_order_acquire, memory_order_relaxed)) {
        atomic_fetch_or_explicit(&lock.word, 1 << 8, memory_order_relaxed);
        while (atomic_load_explicit(&lock.word, memory_order_acquire) & 0xff) {}
        atomic_store_explicit((_Atomic uint16_t *)&lock.locked, 1, memory_order_relaxed);
    }
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
