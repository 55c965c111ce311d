// The reader-writer spin lock of older Linux kernels: a counter that a writer lowers by a large bias.
// Whoever had to wait takes it with a relaxed operation.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { BIAS = 0x00100000 };

static atomic_int lock = BIAS;
static int shared_value;

static void read_lock(void) {
    int prior = atomic_fetch_sub_explicit(&lock, 1, memory_order_acquire);
    while (prior <= 0) {
        atomic_fetch_add_explicit(&lock, 1, memory_order_relaxed);
        while (atomic_load_explicit(&lock, memory_order_relaxed) <= 0) sched_yield();
        // Bug: should be acquire.
        prior = atomic_fetch_sub_explicit(&lock, 1, memory_order_relaxed);
    }
}

static void read_unlock(void) { atomic_fetch_add_explicit(&lock, 1, memory_order_release); }

static void write_lock(void) {
    int prior = atomic_fetch_sub_explicit(&lock, BIAS, memory_order_acquire);
    while (prior != BIAS) {
        atomic_fetch_add_explicit(&lock, BIAS, memory_order_relaxed);
        while (atomic_load_explicit(&lock, memory_order_relaxed) != BIAS) sched_yield();
        // Bug: should be acquire.
        prior = atomic_fetch_sub_explicit(&lock, BIAS, memory_order_relaxed);
    }
}

static void write_unlock(void) { atomic_fetch_add_explicit(&lock, BIAS, memory_order_release); }

static void *worker(void *unused) {
    for (int i = 0; i < 2; i++) {
        if (i % 2 == 0) {
            read_lock();
            volatile int sink = shared_value;
            (void)sink;
            read_unlock();
        } else {
            write_lock();
            sched_yield();
            shared_value = i;
            write_unlock();
        }
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
