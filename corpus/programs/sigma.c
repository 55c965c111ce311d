/* The thread that starts others moves the index that they write at (SV-COMP). */
#include "common.h"

#ifndef N
#define N 5
#endif
static atomic_int array[N + 1], array_index;
static void *run(void *arg) { store(&array[load(&array_index, acq)], 1, rel); return NULL; }
int main(void) {
    for (int i = 0; i < N; i++) {
        store(&array_index, i + 1, rel);
        spawn(run, i);
    }
    join_all();
#ifdef BUG_SUM
    int sum = 0;
    for (int i = 0; i <= N; i++) sum += load(&array[i], acq);
    assert(sum == N);
#endif
    return 0;
}
