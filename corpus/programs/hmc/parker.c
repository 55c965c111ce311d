/* Parking as the JDK does it: a counter, a lock and a wish to be woken; L attempts to park. */
#include "../common.h"

#ifndef L
#define L 3
#endif
static atomic_int counter, condition, mutex;
static atomic_int data;
static int try_lock(void) { return !exchange(&mutex, 1, acq); }
static void unlock(void) { store(&mutex, 0, rel); }
/* Whether it got a permit. It may come back without one. */
static int park(void) {
    if (load(&counter, acq) > 0) {
        store(&counter, 0, rlx);
        fence(sc);
        return 1;
    }
    if (!try_lock()) return 0;
    int permit = load(&counter, acq) > 0;
    if (permit) store(&counter, 0, rlx);
    else store(&condition, 1, rlx);
    unlock();
    return permit;
}
static void unpark(void) {
    while (!try_lock()) {}
    int before = load(&counter, rlx);
    store(&counter, 1, rel);
    if (before < 1) store(&condition, 0, rlx);
    unlock();
}
static void *sleeper(void *arg) {
    for (int i = 0; i < L; i++) {
        if (park()) {
            assert(load(&data, rlx) == 1);
            break;
        }
    }
    return NULL;
}
static void *waker(void *arg) {
    store(&data, 1, rlx);
    unpark();
    return NULL;
}
int main(void) {
    spawn(sleeper, 0);
    spawn(waker, 0);
    join_all();
    return 0;
}
