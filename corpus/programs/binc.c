/* N threads increment two variables (RCMC): N!^2 executions. */
#include "common.h"

#ifndef N
#define N 3
#endif
static atomic_int x, y;
static void *run(void *arg) { fetch_add(&x, 1, rlx); fetch_add(&y, 1, rlx); return NULL; }
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    return 0;
}
