/* A grace period by quiescent counters: the old object is freed when the reader has left it. */
#include "common.h"

struct object { int value; };
static _Atomic(struct object *) shared;
static atomic_int reading;
static void *reader(void *arg) {
    store(&reading, 1, rlx);
    fence(sc);
    struct object *o = load(&shared, acq);
    assert(o->value == 1 || o->value == 2);
    store(&reading, 0, rel);
    return NULL;
}
static void *updater(void *arg) {
    struct object *new = malloc(sizeof *new);
    new->value = 2;
    struct object *old = exchange(&shared, new, acq_rel);
#ifndef BUG_NO_FENCE
    fence(sc);
#endif
#ifndef BUG_NO_WAIT
    while (load(&reading, acq)) {}
#endif
    free(old);
    return NULL;
}
int main(void) {
    struct object *o = malloc(sizeof *o);
    o->value = 1;
    store(&shared, o, rlx);
    spawn(reader, 0);
    spawn(updater, 0);
    join_all();
    free(load(&shared, rlx));
    return 0;
}
