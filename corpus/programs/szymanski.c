/* Szymanski's lock, two threads. */
#include "common.h"

#ifdef BUG_NO_FENCE
#define FENCE
#else
#define FENCE fence(sc)
#endif
static atomic_int flag[2];
static int counter;
static void *run(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    store(&flag[me], 1, rlx);
    FENCE;
    while (load(&flag[other], rlx) >= 3) {}
    store(&flag[me], 3, rlx);
    FENCE;
    if (load(&flag[other], rlx) == 1) {
        store(&flag[me], 2, rlx);
        FENCE;
        while (load(&flag[other], rlx) != 4) {}
    }
    store(&flag[me], 4, rlx);
    FENCE;
    if (me == 1) while (load(&flag[0], acq) >= 2) {}
    counter++;
#ifdef BUG_TWO_LOADS
    if (me == 0) while (load(&flag[1], acq) == 2 || load(&flag[1], acq) == 3) {}
#else
    if (me == 0) {
        int other_flag;
        do other_flag = load(&flag[1], acq); while (other_flag == 2 || other_flag == 3);
    }
#endif
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
