/* References that are taken while others are given back: who finds the count at zero comes too late. */
#include "../programs/common.h"

#ifndef N
#define N 2
#endif
static atomic_int count;
static int *value;
static int get(void) {
#ifdef BUG_BLIND
    fetch_add(&count, 1, rlx);
    return 1;
#else
    int now = load(&count, rlx);
    while (now > 0)
        if (cas(&count, &now, now + 1, acq)) return 1;
    return 0;
#endif
}
static void put(void) {
    if (atomic_fetch_sub_explicit(&count, 1, acq_rel) == 1) free(value);
}
static void *user(void *arg) {
    if (get()) {
        (void)*(volatile int *)value;
        put();
    }
    return NULL;
}
static void *owner(void *arg) {
    (void)*(volatile int *)value;
    put();
    return NULL;
}
int main(void) {
    value = malloc(sizeof *value);
    *value = 5;
    store(&count, 1, rlx);
    for (int i = 0; i < N; i++) spawn(user, 0);
    spawn(owner, 0);
    join_all();
    return 0;
}
