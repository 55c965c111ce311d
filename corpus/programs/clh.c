/* The queue lock of Craig, Landin and Hagersten. */
#include "common.h"

#ifndef N
#define N 2
#endif
struct node { atomic_int locked; };
static struct node first, nodes[N];
static _Atomic(struct node *) tail = &first;
static int counter;
static void *run(void *arg) {
    struct node *me = &nodes[(long)arg];
    store(&me->locked, 1, rlx);
    struct node *before = exchange(&tail, me, acq_rel);
#ifdef BUG_RELAXED
    while (load(&before->locked, rlx)) {}
#else
    while (load(&before->locked, acq)) {}
#endif
    counter++;
    store(&me->locked, 0, rel);
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    assert(counter == N);
    return 0;
}
