// Boehm's seqlock (MSPC 2012, Figure 5) with release stores of the data and two writers. The operation that
// first increments the counter is relaxed, so the stores of one writer need not happen before those of the
// next. The bad execution has a cycle in hb, rf, mo and sc together.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int sequence, data1, data2;

static void write_both(int value) {
    int before = atomic_load_explicit(&sequence, memory_order_relaxed);
    // Bug: should be acquire.
    while (before & 1 || !atomic_compare_exchange_weak_explicit(&sequence, &before, before + 1, memory_order_relaxed, memory_order_relaxed)) {
        before = atomic_load_explicit(&sequence, memory_order_relaxed);
        sched_yield();
    }
    atomic_store_explicit(&data1, value, memory_order_release);
    atomic_store_explicit(&data2, value, memory_order_release);
    atomic_store_explicit(&sequence, before + 2, memory_order_release);
}

static void *writer(void *argument) {
    write_both(argument ? 1 : 2);
    write_both(argument ? 3 : 4);
    return NULL;
}

static void *reader(void *unused) {
    for (int i = 0; i < 3;) {
        int const before = atomic_load_explicit(&sequence, memory_order_acquire);
        int const a = atomic_load_explicit(&data1, memory_order_acquire);
        int const b = atomic_load_explicit(&data2, memory_order_acquire);
        int const after = atomic_load_explicit(&sequence, memory_order_relaxed);
        if (before == after && before % 2 == 0) {
            assert(a == b);
            i++;
        }
    }
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, writer, &a);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
