// A spinning barrier whose last thread opens it by a relaxed operation: what was written before the barrier
// does not happen before what is read after it. One writer, then three readers.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4 };

static atomic_uint spaces = THREADS;
static atomic_uint generation;
static int shared_value;

static int barrier_wait(void) {
    unsigned const mine = atomic_load_explicit(&generation, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&spaces, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&spaces, THREADS, memory_order_relaxed);
        // Bug: should be release.
        atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
        return 1;
    }
    while (atomic_load_explicit(&generation, memory_order_acquire) == mine) sched_yield();
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
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, i == 0 ? writer : reader, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
