/* N threads write one location: N! orders. */
#include "common.h"

#ifndef N
#define N 5
#endif
static atomic_int x;
static void *run(void *arg) { store(&x, (int)(long)arg, rlx); return NULL; }
int main(void) {
    for (int i = 1; i <= N; i++) spawn(run, i);
    join_all();
    return 0;
}
