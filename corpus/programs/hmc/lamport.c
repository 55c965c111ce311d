/* Lamport's fast mutual exclusion: N threads, each takes the lock if it need not begin anew. */
#include "../common.h"

#ifndef N
#define N 2
#endif
static atomic_int x, y, b[N + 1];
static atomic_int inside;
static void *run(void *arg) {
    int me = (int)(long)arg;
    store(&b[me], 1, rel);
    store(&x, me, rel);
    fence(sc);
    if (load(&y, acq) != 0) {
        store(&b[me], 0, rel);
        return NULL;
    }
    store(&y, me, rel);
    fence(sc);
    if (load(&x, acq) != me) {
        store(&b[me], 0, rel);
        fence(sc);
        for (int j = 1; j <= N; j++) while (load(&b[j], acq)) {}
        if (load(&y, acq) != me) return NULL;
    }
    store(&inside, me, rlx);
    assert(load(&inside, rlx) == me);
    store(&y, 0, rel);
    store(&b[me], 0, rel);
    return NULL;
}
int main(void) {
    for (int i = 1; i <= N; i++) spawn(run, i);
    join_all();
    return 0;
}
