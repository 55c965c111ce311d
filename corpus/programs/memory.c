/* Mistakes with memory that need two threads, or none. */
#include "common.h"

static _Atomic(int *) shared;
static void *one(void *arg) {
    int *p = malloc(2 * sizeof *p);
#ifndef BUG_UNINITIALISED
    p[0] = 1;
#endif
    store(&shared, p, rel);
    return NULL;
}
static void *two(void *arg) {
    int *p = load(&shared, acq);
#ifndef BUG_NULL
    if (!p) return NULL;
#endif
#ifdef BUG_BOUNDS
    p[2] = 1;
#endif
    assert(p[0] == 1);
    free(p);
#ifdef BUG_AFTER_FREE
    assert(p[0] == 1);
#endif
#ifdef BUG_DOUBLE_FREE
    free(p);
#endif
    return NULL;
}
int main(void) {
    spawn(one, 0);
    spawn(two, 0);
    join_all();
    return 0;
}
