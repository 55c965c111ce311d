/* A compare-and-swap and a write by each thread (RCMC). */
#include "common.h"

#ifndef N
#define N 3
#endif
static atomic_int x;
static void *run(void *arg) { int i = (int)(long)arg, e = 0; cas(&x, &e, i, rlx); store(&x, i + 3, rel); return NULL; }
int main(void) {
    for (int i = 1; i <= N; i++) spawn(run, i);
    join_all();
    return 0;
}
