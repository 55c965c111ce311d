// Dekker's mutual exclusion with fences. One of the two threads lacks the fence between announcing itself and
// looking at the other, so both may enter.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int critical;

static void section(int me) {
    int const other = 1 - me;
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    // Bug: should be done by both.
    if (me == 1) atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&wants[other], memory_order_relaxed)) {
        if (atomic_load_explicit(&turn, memory_order_relaxed) != me) {
            atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
            while (atomic_load_explicit(&turn, memory_order_relaxed) != me) sched_yield();
            atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst);
        } else {
            sched_yield();
        }
    }
    atomic_thread_fence(memory_order_acquire);
    critical++;
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
}

static void *first(void *unused) {
    section(0);
    return unused;
}

static void *second(void *unused) {
    section(1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
