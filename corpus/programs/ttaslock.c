/* A test-and-test-and-set lock. */
#include "common.h"

#ifndef N
#define N 3
#endif
static atomic_int taken;
static int counter;
static void lock(void) {
    for (;;) {
        while (load(&taken, rlx)) {}
        if (!exchange(&taken, 1, acq)) return;
    }
}
static void unlock(void) {
#ifdef BUG_RELAXED
    store(&taken, 0, rlx);
#else
    store(&taken, 0, rel);
#endif
}
static void *run(void *arg) { lock(); counter++; unlock(); return NULL; }
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    assert(counter == N);
    return 0;
}
