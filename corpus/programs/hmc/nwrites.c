/* N threads write, each its own location or, with -DLOC, all the same. */
#include "../common.h"

#ifndef N
#define N 5
#endif
static atomic_int x[N + 1];
#ifdef LOC
#define PLACE(i) 0
#else
#define PLACE(i) (i)
#endif
static void *run(void *arg) {
    long i = (long)arg;
    store(&x[PLACE(i)], (int)i, rlx);
    return NULL;
}
int main(void) {
    for (int i = 1; i <= N; i++) spawn(run, i);
    join_all();
    return 0;
}
