/* Lamport's fast mutual exclusion, two threads. */
#include "common.h"

#ifdef BUG_NO_FENCE
#define FENCE
#else
#define FENCE fence(sc)
#endif
static atomic_int x, y, b[3];
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
            for (int j = 1; j <= 2; j++) while (load(&b[j], acq)) {}
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
    spawn(run, 1);
    spawn(run, 2);
    join_all();
    assert(counter == 2);
    return 0;
}
