/* A barrier made of a counter and a flag. */
#include "common.h"

#ifndef N
#define N 2
#endif
static atomic_int arrived, go;
static int data[N];
static void wait(void) {
    if (fetch_add(&arrived, 1, acq_rel) == N - 1) {
#ifdef BUG_RELAXED
        store(&go, 1, rlx);
#else
        store(&go, 1, rel);
#endif
    } else {
        while (!load(&go, acq)) {}
    }
}
static void *run(void *arg) {
    long me = (long)arg;
    data[me] = 1;
    wait();
    for (int i = 0; i < N; i++) assert(data[i] == 1);
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    return 0;
}
