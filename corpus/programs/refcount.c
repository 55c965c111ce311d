/* Reference counting: the last one out frees. */
#include "common.h"

#ifndef N
#define N 2
#endif
struct object { atomic_int count; int value; };
static struct object *o;
static void *run(void *arg) {
    (void)*(volatile int *)&o->value;
#ifdef BUG_RELAXED
    if (atomic_fetch_sub_explicit(&o->count, 1, rlx) == 1) {
#else
    if (atomic_fetch_sub_explicit(&o->count, 1, rel) == 1) {
        fence(acq);
#endif
        free(o);
    }
    return NULL;
}
int main(void) {
    o = malloc(sizeof *o);
    store(&o->count, N, rlx);
    o->value = 5;
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    return 0;
}
