/* The queue lock of Mellor-Crummey and Scott. */
#include "common.h"

#ifndef N
#define N 2
#endif
struct node { _Atomic(struct node *) next; atomic_int locked; };
static _Atomic(struct node *) tail;
static struct node nodes[N];
static int counter;
static void lock(struct node *me) {
    store(&me->next, NULL, rlx);
    store(&me->locked, 1, rlx);
    struct node *before = exchange(&tail, me, acq_rel);
    if (!before) return;
#ifdef BUG_RELAXED_LINK
    store(&before->next, me, rlx);
#else
    store(&before->next, me, rel);
#endif
    while (load(&me->locked, acq)) {}
}
static void unlock(struct node *me) {
    struct node *after = load(&me->next, acq);
    if (!after) {
        struct node *expected = me;
        if (cas(&tail, &expected, NULL, rel)) return;
        while (!(after = load(&me->next, acq))) {}
    }
#ifdef BUG_RELAXED_HANDOVER
    store(&after->locked, 0, rlx);
#else
    store(&after->locked, 0, rel);
#endif
}
static void *run(void *arg) {
    struct node *me = &nodes[(long)arg];
    lock(me);
    counter++;
    unlock(me);
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    assert(counter == N);
    return 0;
}
