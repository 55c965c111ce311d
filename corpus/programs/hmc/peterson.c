/* Peterson's lock for two threads; each looks L times at most, and goes without the lock if that was not enough. */
#include "../common.h"

#ifndef L
#define L 10
#endif
static atomic_int flag[2], turn;
static atomic_int inside;
static void *run(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    store(&flag[me], 1, rel);
    fence(sc);
    store(&turn, other, rel);
    fence(sc);
    for (int i = 0; i < L; i++) {
        if (!load(&flag[other], acq) || load(&turn, acq) != other) {
            store(&inside, me, rlx);
            assert(load(&inside, rlx) == me);
            break;
        }
    }
    store(&flag[me], 0, rel);
    return NULL;
}
int main(void) {
    spawn(run, 0);
    spawn(run, 1);
    join_all();
    return 0;
}
