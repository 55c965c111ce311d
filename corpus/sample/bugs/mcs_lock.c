// The queue lock of Mellor-Crummey and Scott (TOCS 1991). The waiter spins with a relaxed load.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct node {
    _Atomic(struct node *) next;
    atomic_int gate;
} node;

static _Atomic(node *) tail;
static int counter;

static void lock(node *me) {
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->gate, 1, memory_order_relaxed);
    node *before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
    if (before == NULL) return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    // Bug: should be acquire.
    while (atomic_load_explicit(&me->gate, memory_order_relaxed)) sched_yield();
}

static void unlock(node *me) {
    node *next = atomic_load_explicit(&me->next, memory_order_acquire);
    if (next == NULL) {
        node *expected = me;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release, memory_order_relaxed))
            return;
        while ((next = atomic_load_explicit(&me->next, memory_order_acquire)) == NULL) sched_yield();
    }
    atomic_store_explicit(&next->gate, 0, memory_order_release);
}

static void *worker(void *unused) {
    node me;
    for (int i = 0; i < 2; i++) {
        lock(&me);
        counter++;
        unlock(&me);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
