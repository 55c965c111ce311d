// A spinning barrier whose waiters leave by a relaxed load: what was written before the barrier
// does not happen before what is read after it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 5 };

static atomic_uint spaces = THREADS;
static atomic_uint generation;
static int shared_value;

static int barrier_wait(void) {
    unsigned const mine = atomic_load_explicit(&generation, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&spaces, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&spaces, THREADS, memory_order_relaxed);
        atomic_fetch_add_explicit(&generation, 1, memory_order_release);
        return 1;
    }
    // Bug: should be acquire.
    while (atomic_load_explicit(&generation, memory_order_relaxed) == mine) sched_yield();
    return 0;
}

static void *writer(void *unused) {
    shared_value = 1;
    barrier_wait();
    return unused;
}

static void *reader(void *unused) {
    barrier_wait();
    volatile int sink = shared_value;
    (void)sink;
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, i == THREADS - 1 ? writer : reader, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
