// expect: safe
// models: rc11 sc c20 tso pso
// Only one thread takes the flag, over and over again, so it is never found taken.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int busy, full;
static int message;
static void *producer(void *unused) {
    message = 1;
    atomic_store_explicit(&full, 1, memory_order_release);
    return unused;
}
static int poll(void) {
    int expected = 0;
    int taken = atomic_compare_exchange_strong_explicit(&busy, &expected, 1, memory_order_acq_rel, memory_order_acquire);
    assert(taken);
    int found = atomic_load_explicit(&full, memory_order_acquire);
    atomic_store_explicit(&busy, 0, memory_order_release);
    return found;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, producer, 0);
    while (!poll()) {}
    assert(message == 1);
    pthread_join(thread, 0);
}
