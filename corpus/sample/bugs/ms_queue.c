// The lock-free queue of Michael and Scott (PODC 1996) on a pool of nodes with counted pointers.
// Four threads put and take once; the queue is right, but all threads but the first keep their result in one
// variable.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 1, NODES = 1 + THREADS * ROUNDS, NIL = 0 };

typedef struct {
    unsigned value;
    _Atomic uint64_t next;
} node;

static node nodes[NODES + 1];
static _Atomic uint64_t head, tail;
unsigned sums[2];

static uint64_t make(uint64_t count, uint64_t index) { return count << 32 | index; }
static uint64_t count_of(uint64_t pointer) { return pointer >> 32; }
static uint64_t index_of(uint64_t pointer) { return pointer & 0xffffffff; }

static void enqueue(uint64_t index, unsigned value) {
    nodes[index].value = value;
    atomic_store_explicit(&nodes[index].next, make(0, NIL), memory_order_relaxed);
    uint64_t last;
    for (;;) {
        last = atomic_load_explicit(&tail, memory_order_acquire);
        uint64_t next = atomic_load_explicit(&nodes[index_of(last)].next, memory_order_acquire);
        if (last != atomic_load_explicit(&tail, memory_order_relaxed)) continue;
        if (index_of(next) == NIL) {
            if (atomic_compare_exchange_strong_explicit(&nodes[index_of(last)].next, &next,
                    make(count_of(next) + 1, index), memory_order_release, memory_order_relaxed))
                break;
        } else {
            uint64_t expected = last;
            atomic_compare_exchange_strong_explicit(&tail, &expected, make(count_of(last) + 1, index_of(next)),
                memory_order_release, memory_order_relaxed);
        }
        sched_yield();
    }
    atomic_compare_exchange_strong_explicit(&tail, &last, make(count_of(last) + 1, index), memory_order_release,
        memory_order_relaxed);
}

static int dequeue(unsigned *value) {
    for (;;) {
        uint64_t first = atomic_load_explicit(&head, memory_order_acquire);
        uint64_t last = atomic_load_explicit(&tail, memory_order_relaxed);
        uint64_t next = atomic_load_explicit(&nodes[index_of(first)].next, memory_order_acquire);
        if (first != atomic_load_explicit(&head, memory_order_relaxed)) continue;
        if (index_of(first) == index_of(last)) {
            if (index_of(next) == NIL) return 0;
            atomic_compare_exchange_strong_explicit(&tail, &last, make(count_of(last) + 1, index_of(next)),
                memory_order_release, memory_order_relaxed);
            sched_yield();
        } else {
            *value = nodes[index_of(next)].value;
            if (atomic_compare_exchange_strong_explicit(&head, &first, make(count_of(first) + 1, index_of(next)),
                    memory_order_release, memory_order_relaxed))
                return 1;
            sched_yield();
        }
    }
}

static void *worker(void *argument) {
    uint64_t const me = (uint64_t)argument;
    // Bug: should be one for each thread.
    unsigned *sum = &sums[me > 0];
    unsigned value;
    for (int i = 0; i < ROUNDS; i++) {
        enqueue(2 + me * ROUNDS + i, 1);
        if (dequeue(&value)) *sum += value;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    atomic_init(&head, make(0, 1));
    atomic_init(&tail, make(0, 1));
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
