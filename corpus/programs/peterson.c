/* Peterson's lock for two threads. */
#include "common.h"

#ifdef BUG_NO_FENCE
#define FENCE
#else
#define FENCE fence(sc)
#endif
static atomic_int flag[2], turn;
static int counter;
static void *run(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    store(&flag[me], 1, rel);
#ifndef BUG_ONE_FENCE
    FENCE;
#endif
    store(&turn, other, rel);
    FENCE;
    while (load(&flag[other], acq) && load(&turn, acq) == other) {}
    counter++;
    store(&flag[me], 0, rel);
    return NULL;
}
int main(void) {
    spawn(run, 0);
    spawn(run, 1);
    join_all();
    assert(counter == 2);
    return 0;
}
