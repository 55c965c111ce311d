// The barrier of ThreadSanitizer's own tests: a load behind it returns what was stored before it, and yet nothing happens
// before by it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void __tsan_testonly_barrier_init(unsigned long *, unsigned);
void __tsan_testonly_barrier_wait(unsigned long *);

static unsigned long barrier;
static atomic_int seen;
int data;

static void *first(void *unused) {
    data = 1;
    atomic_store_explicit(&seen, 1, memory_order_relaxed);
    __tsan_testonly_barrier_wait(&barrier);
    return unused;
}

int main(void) {
    pthread_t thread;
    __tsan_testonly_barrier_init(&barrier, 2);
    pthread_create(&thread, 0, first, 0);
    __tsan_testonly_barrier_wait(&barrier);
    if (atomic_load_explicit(&seen, memory_order_relaxed) != 1) abort();
#ifndef RIGHT
    data = 2;
#endif
    return pthread_join(thread, 0);
}
