/* A ticket lock with a waiting array (TWA, Dice and Kogan 2019): who is not next in line waits at a slot of the array,
   not at the counter that everybody reads. */
#include "common.h"

#ifndef N
#define N 2
#endif
#define SLOTS 4
static atomic_uint next, serving, slots[SLOTS];
static int counter;
static void lock(void) {
    unsigned mine = fetch_add(&next, 1, rlx);
    unsigned ahead = mine - load(&serving, acq);
    if (ahead == 0) return;
    while (ahead > 1) {
        /* Whoever sees that the slot has changed sees why. */
        unsigned before = load(&slots[mine % SLOTS], acq);
        ahead = mine - load(&serving, acq);
        if (ahead > 1) while (load(&slots[mine % SLOTS], rlx) == before) {}
    }
    while (load(&serving, acq) != mine) {}
}
static void unlock(void) {
    unsigned after = load(&serving, rlx) + 1;
#ifdef BUG_RELAXED
    store(&serving, after, rlx);
#else
    store(&serving, after, rel);
#endif
    /* Whoever is next but one comes closer. */
#ifdef BUG_RELAXED_SLOT
    fetch_add(&slots[(after + 1) % SLOTS], 1, rlx);
#else
    fetch_add(&slots[(after + 1) % SLOTS], 1, rel);
#endif
}
static void *run(void *arg) {
    lock();
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
