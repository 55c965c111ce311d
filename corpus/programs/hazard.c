/* Hazard pointers: what a reader protects is not freed. */
#include "common.h"

struct object { int value; };
static _Atomic(struct object *) shared, hazard;
static void *reader(void *arg) {
    struct object *o;
    for (;;) {
        o = load(&shared, acq);
        store(&hazard, o, rlx);
#ifndef BUG_NO_FENCE
        fence(sc);
#endif
#ifdef BUG_NO_RECHECK
        break;
#else
        if (load(&shared, acq) == o) break;
#endif
    }
    assert(o->value == 1 || o->value == 2);
    store(&hazard, NULL, rel);
    return NULL;
}
static void *updater(void *arg) {
    struct object *new = malloc(sizeof *new);
    new->value = 2;
    struct object *old = exchange(&shared, new, acq_rel);
    fence(sc);
    while (load(&hazard, acq) == old) {}
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
    return 0;
}
