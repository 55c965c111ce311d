// expect: assertion 17
// models: rc11 sc c20 tso pso
// Two threads take the flag, so one of them may find it taken.
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
static void *consumer(void *unused) {
    while (!poll()) {}
    return unused;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, producer, 0);
    pthread_create(&threads[1], 0, consumer, 0);
    pthread_create(&threads[2], 0, consumer, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
