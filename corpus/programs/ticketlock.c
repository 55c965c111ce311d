/* A ticket lock. */
#include "common.h"

#ifndef N
#define N 3
#endif
static atomic_uint next, serving;
static int counter;
static void lock(void) {
    unsigned mine = fetch_add(&next, 1, rlx);
#ifdef BUG_RELAXED
    while (load(&serving, rlx) != mine) {}
#else
    while (load(&serving, acq) != mine) {}
#endif
}
static void unlock(void) { store(&serving, load(&serving, rlx) + 1, rel); }
static void *run(void *arg) { lock(); counter++; unlock(); return NULL; }
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    assert(counter == N);
    return 0;
}
