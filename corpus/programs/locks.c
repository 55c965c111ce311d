/* Mistakes with locks, and other ends. */
#include "common.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int never;
static void *run(void *arg) {
#ifdef BUG_RELOCK
    pthread_mutex_lock(&m);
#endif
#ifndef BUG_UNLOCK
    pthread_mutex_lock(&m);
#endif
    pthread_mutex_unlock(&m);
#ifdef BUG_SPIN
    while (!load(&never, acq)) {}
#endif
#ifdef BUG_DIVIDE
    assert(6 / load(&never, acq) == 6);
#endif
#ifdef BUG_ABORT
    if (!load(&never, acq)) abort();
#endif
    return NULL;
}
int main(void) {
    spawn(run, 0);
    spawn(run, 1);
    join_all();
    return 0;
}
