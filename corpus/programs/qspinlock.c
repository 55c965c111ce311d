/* A queue lock behind a pending bit and a locked bit, as in Linux, for few threads. */
#include "common.h"

#ifndef N
#define N 2
#endif
#define LOCKED 1u
#define PENDING 0x100u
#define TAIL 16
struct node { _Atomic(struct node *) next; atomic_int locked; };
static struct node nodes[N];
static atomic_uint word;
static int counter;
static void slow(unsigned me) {
    struct node *n = &nodes[me];
    store(&n->next, NULL, rlx);
    store(&n->locked, 0, rlx);
    /* Becomes the tail. */
    unsigned old = load(&word, rlx);
    while (!atomic_compare_exchange_strong_explicit(&word, &old, (old & 0xffff) | (me + 1) << TAIL, acq_rel, rlx)) {}
    if (old >> TAIL) {
        store(&nodes[(old >> TAIL) - 1].next, n, rel);
        while (!load(&n->locked, acq)) {}
    }
    /* Head of the queue: waits for owner and pending. */
    unsigned now;
    while ((now = load(&word, acq)) & 0xffff) {}
    for (;;) {
        if (now >> TAIL == me + 1) {
            if (atomic_compare_exchange_strong_explicit(&word, &now, LOCKED, acq, rlx)) return;
        } else {
            atomic_fetch_or_explicit(&word, LOCKED, acq);
            break;
        }
    }
    struct node *next;
    while (!(next = load(&n->next, acq))) {}
    store(&next->locked, 1, rel);
}
static void lock(unsigned me) {
    unsigned old = 0;
    if (cas(&word, &old, LOCKED, acq)) return;
    slow(me);
}
static void unlock(void) {
#ifdef BUG_RELAXED
    atomic_fetch_and_explicit(&word, ~LOCKED, rlx);
#else
    atomic_fetch_and_explicit(&word, ~LOCKED, rel);
#endif
}
static void *run(void *arg) {
    lock((unsigned)(long)arg);
    counter++;
    unlock();
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    assert(counter == N);
    return 0;
}
