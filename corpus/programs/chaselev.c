/* The deque of Chase and Lev (with the orderings of Le et al.): an owner and thieves. */
#include "common.h"

#ifndef THIEVES
#define THIEVES 1
#endif
#define SIZE 4
static atomic_int top, bottom, items[SIZE];
static atomic_int taken[3];
static void push(int v) {
    int b = load(&bottom, rlx);
    store(&items[b % SIZE], v, rlx);
#ifdef BUG_RELAXED_PUSH
    store(&bottom, b + 1, rlx);
#else
    fence(rel);
    store(&bottom, b + 1, rlx);
#endif
}
static int take(void) {
    int b = load(&bottom, rlx) - 1;
    store(&bottom, b, rlx);
#ifndef BUG_NO_FENCE
    fence(sc);
#endif
    int t = load(&top, rlx), v = 0;
    if (t <= b) {
        v = load(&items[b % SIZE], rlx);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, sc, rlx)) v = 0;
            store(&bottom, b + 1, rlx);
        }
    } else {
        store(&bottom, b + 1, rlx);
    }
    return v;
}
static int steal(void) {
    int t = load(&top, acq);
    fence(sc);
    int b = load(&bottom, acq), v = 0;
    if (t < b) {
        v = load(&items[t % SIZE], rlx);
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, sc, rlx)) return 0;
        assert(v != 0);
    }
    return v;
}
static void *owner(void *arg) {
    push(1);
    push(2);
    fetch_add(&taken[take()], 1, rlx);
    fetch_add(&taken[take()], 1, rlx);
    return NULL;
}
static void *thief(void *arg) { fetch_add(&taken[steal()], 1, rlx); return NULL; }
int main(void) {
    spawn(owner, 0);
    for (int i = 0; i < THIEVES; i++) spawn(thief, i);
    join_all();
    assert(load(&taken[1], rlx) == 1 && load(&taken[2], rlx) == 1);
    return 0;
}
