/* A worker waits for a task, and says all the time what it is doing. */
#include "common.h"

enum { STARTING, WAITING, DONE };
static atomic_int state, go;
static int data;
static void *worker(void *arg) {
    while (!load(&go, acq)) store(&state, WAITING, rlx);
    data++;
#ifdef BUG_RELAXED
    store(&state, DONE, rlx);
#else
    store(&state, DONE, rel);
#endif
    return NULL;
}
static void *boss(void *arg) {
    assert(load(&state, rlx) != DONE);
    data = 1;
    store(&go, 1, rel);
    while (load(&state, acq) != DONE) {}
    assert(data == 2);
    return NULL;
}
int main(void) {
    spawn(worker, 0);
    spawn(boss, 0);
    join_all();
    return 0;
}
