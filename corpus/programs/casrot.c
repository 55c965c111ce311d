/* Thread i turns i-1 into i (RCMC). */
#include "common.h"

#ifndef N
#define N 4
#endif
static atomic_int x;
static void *run(void *arg) { int i = (int)(long)arg, e = i - 1; cas(&x, &e, i, rlx); return NULL; }
int main(void) {
    for (int i = 1; i <= N; i++) spawn(run, i);
    join_all();
    return 0;
}
