/* N atomic increments of one variable (RCMC): N! executions. */
#include "common.h"

#ifndef N
#define N 3
#endif
static atomic_int x;
static void *run(void *arg) {
#ifdef BUG_NOT_ATOMIC
    store(&x, load(&x, rlx) + 1, rlx);
#else
    fetch_add(&x, 1, rlx);
#endif
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    assert(load(&x, rlx) == N);
    return 0;
}
