/* Szymanski's lock: two threads, each takes it N times. */
#include "../common.h"

#ifndef N
#define N 1
#endif
static atomic_int flag[2];
static int counter;
static void *run(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    for (int i = 0; i < N; i++) {
        store(&flag[me], 1, rlx);
        fence(sc);
        while (load(&flag[other], rlx) >= 3) {}
        store(&flag[me], 3, rlx);
        fence(sc);
        if (load(&flag[other], rlx) == 1) {
            store(&flag[me], 2, rlx);
            fence(sc);
            while (load(&flag[other], rlx) != 4) {}
        }
        store(&flag[me], 4, rlx);
        fence(sc);
        if (me == 1) while (load(&flag[0], acq) >= 2) {}
        counter++;
        if (me == 0) {
            int seen;
            do seen = load(&flag[1], acq); while (seen == 2 || seen == 3);
        }
        store(&flag[me], 0, rel);
        fence(sc);
    }
    return NULL;
}
int main(void) {
    spawn(run, 0);
    spawn(run, 1);
    join_all();
    assert(counter == 2 * N);
    return 0;
}
