// A reader-writer lock whose writer uses relaxed operations, over atomic data: the bad executions have a
// cycle in hb, rf, mo and sc together. One writer and one reader, three rounds each.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int readers_and_writer, data1, data2;

static void read_lock(void) {
    while (atomic_fetch_add_explicit(&readers_and_writer, 2, memory_order_acquire) & 1) {
        atomic_fetch_sub_explicit(&readers_and_writer, 2, memory_order_relaxed);
        sched_yield();
    }
}

static void read_unlock(void) { atomic_fetch_sub_explicit(&readers_and_writer, 2, memory_order_release); }

static void write_lock(void) {
    int expected = 0;
    // Bug: should be acquire.
    while (!atomic_compare_exchange_strong_explicit(&readers_and_writer, &expected, 1, memory_order_relaxed, memory_order_relaxed)) {
        expected = 0;
        sched_yield();
    }
}

// Bug: should be release.
static void write_unlock(void) { atomic_fetch_sub_explicit(&readers_and_writer, 1, memory_order_relaxed); }

static void *writer(void *unused) {
    for (int i = 1; i <= 3; i++) {
        write_lock();
        atomic_store_explicit(&data1, i, memory_order_relaxed);
        atomic_store_explicit(&data2, i, memory_order_relaxed);
        write_unlock();
    }
    return unused;
}

static void *reader(void *unused) {
    for (int i = 0; i < 3; i++) {
        read_lock();
        int const a = atomic_load_explicit(&data1, memory_order_relaxed);
        int const b = atomic_load_explicit(&data2, memory_order_relaxed);
        assert(a == b);
        read_unlock();
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
