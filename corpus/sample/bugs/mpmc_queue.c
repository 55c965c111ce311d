// A bounded multi-producer multi-consumer queue in which one word counts the reads and writes that have
// started, two others those that are done. A producer publishes what it wrote by a relaxed operation. The
// queue holds one item; two threads put another, then take until the queue is empty.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 4, LOW = 0xffff };

static int slots[SIZE];
// Reads in the upper half, writes in the lower.
static atomic_uint started;
static atomic_uint reads_done, writes_done;

static int *begin_write(void) {
    unsigned seen = atomic_load_explicit(&started, memory_order_acquire);
    unsigned reads, writes;
    for (;; sched_yield()) {
        reads = seen >> 16;
        writes = seen & LOW;
        if (((writes - reads) & LOW) == SIZE) return NULL;
        if (atomic_compare_exchange_weak_explicit(&started, &seen, reads << 16 | ((writes + 1) & LOW),
                memory_order_acq_rel, memory_order_acquire))
            break;
    }
    while ((atomic_load_explicit(&reads_done, memory_order_acquire) & LOW) != reads) sched_yield();
    return &slots[writes % SIZE];
}

static void end_write(void) {
    // Bug: should be release.
    atomic_fetch_add_explicit(&writes_done, 1, memory_order_relaxed);
}

static int *begin_read(void) {
    unsigned seen = atomic_load_explicit(&started, memory_order_acquire);
    unsigned reads, writes;
    for (;; sched_yield()) {
        reads = seen >> 16;
        writes = seen & LOW;
        if (reads == writes) return NULL;
        if (atomic_compare_exchange_weak_explicit(&started, &seen, seen + (1u << 16), memory_order_acquire,
                memory_order_acquire))
            break;
    }
    while ((atomic_load_explicit(&writes_done, memory_order_acquire) & LOW) != writes) sched_yield();
    return &slots[reads % SIZE];
}

static void end_read(void) { atomic_fetch_add_explicit(&reads_done, 1, memory_order_release); }

static void put(void) {
    int *slot = begin_write();
    *slot = 1;
    end_write();
}

static void *both(void *unused) {
    int *slot;
    put();
    while ((slot = begin_read()) != NULL) {
        volatile int sink = *slot;
        (void)sink;
        end_read();
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    put();
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, both, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
