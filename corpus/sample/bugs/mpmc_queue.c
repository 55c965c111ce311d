// A bounded multi-producer multi-consumer queue with separate counters for claimed and written slots.
// A consumer learns that a slot is written by a relaxed load.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 2 };

static int slots[SIZE];
static atomic_uint claimed, written, taken, emptied;

static int *write_prepare(unsigned *ticket) {
    unsigned mine = atomic_load_explicit(&claimed, memory_order_relaxed);
    for (;;) {
        if (mine - atomic_load_explicit(&emptied, memory_order_acquire) >= SIZE) return NULL;
        if (atomic_compare_exchange_strong_explicit(&claimed, &mine, mine + 1, memory_order_relaxed, memory_order_relaxed))
            break;
    }
    *ticket = mine;
    return &slots[mine % SIZE];
}

static void write_publish(unsigned ticket) {
    while (atomic_load_explicit(&written, memory_order_relaxed) != ticket) sched_yield();
    atomic_fetch_add_explicit(&written, 1, memory_order_release);
}

static int *read_fetch(unsigned *ticket) {
    unsigned mine = atomic_load_explicit(&taken, memory_order_relaxed);
    for (;;) {
        // Bug: should be acquire.
        if ((int)(atomic_load_explicit(&written, memory_order_relaxed) - mine) <= 0) return NULL;
        if (atomic_compare_exchange_strong_explicit(&taken, &mine, mine + 1, memory_order_relaxed, memory_order_relaxed))
            break;
    }
    *ticket = mine;
    return &slots[mine % SIZE];
}

static void read_consume(unsigned ticket) {
    while (atomic_load_explicit(&emptied, memory_order_relaxed) != ticket) sched_yield();
    atomic_fetch_add_explicit(&emptied, 1, memory_order_release);
}

static void put(int value) {
    unsigned ticket;
    int *slot;
    while ((slot = write_prepare(&ticket)) == NULL) sched_yield();
    *slot = value;
    write_publish(ticket);
}

static void take_all(void) {
    unsigned ticket;
    int *slot;
    while ((slot = read_fetch(&ticket)) != NULL) {
        *slot = 0;
        read_consume(ticket);
    }
}

static void *writer(void *unused) {
    put(1);
    return unused;
}

static void *reader(void *unused) {
    take_all();
    return unused;
}

static void *both(void *unused) {
    put(2);
    take_all();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, both, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
