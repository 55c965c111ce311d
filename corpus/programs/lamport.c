/* Lamport's fast mutual exclusion. */
#include "common.h"
#ifndef N
#define N 2
#endif

#ifdef BUG_NO_FENCE
#define FENCE
#else
#define FENCE fence(sc)
#endif
static atomic_int x, y, b[N + 1];
static int counter;
static void *run(void *arg) {
    int me = (int)(long)arg;
    for (;;) {
        store(&b[me], 1, rel);
        store(&x, me, rel);
        FENCE;
        if (load(&y, acq) != 0) {
            store(&b[me], 0, rel);
            FENCE;
            while (load(&y, acq) != 0) {}
            continue;
        }
        store(&y, me, rel);
        FENCE;
        if (load(&x, acq) != me) {
            store(&b[me], 0, rel);
            FENCE;
            for (int j = 1; j <= N; j++) while (load(&b[j], acq)) {}
            if (load(&y, acq) != me) {
                while (load(&y, acq) != 0) {}
                continue;
            }
        }
        break;
    }
    counter++;
    store(&y, 0, rel);
    store(&b[me], 0, rel);
    return NULL;
}
int main(void) {
    for (long me = 1; me <= N; me++) spawn(run, me);
    join_all();
    assert(counter == N);
    return 0;
}
