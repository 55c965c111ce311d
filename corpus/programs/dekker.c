/* Dekker's lock for two threads. */
#include "common.h"

#ifdef BUG_NO_FENCE
#define FENCE
#else
#define FENCE fence(sc)
#endif
static atomic_int wants[2], turn;
static int counter;
static void *run(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    store(&wants[me], 1, rlx);
    FENCE;
    while (load(&wants[other], acq)) {
        if (load(&turn, rlx) != me) {
            store(&wants[me], 0, rlx);
            while (load(&turn, acq) != me) {}
            store(&wants[me], 1, rlx);
            FENCE;
        }
    }
    counter++;
    store(&turn, other, rel);
    store(&wants[me], 0, rel);
    return NULL;
}
int main(void) {
    spawn(run, 0);
    spawn(run, 1);
    join_all();
    assert(counter == 2);
    return 0;
}
