/* A counter that is increased by a compare-and-swap, retried with what it found; others overwrite it. */
#include "common.h"

#ifndef N
#define N 3
#endif
#ifndef WRITERS
#define WRITERS 1
#endif
static atomic_int x;
static void *increase(void *arg) {
    int old = load(&x, rlx);
    while (!cas(&x, &old, old + 1, rlx)) {}
    return NULL;
}
static void *writer(void *arg) { store(&x, 10 + (int)(long)arg, rlx); return NULL; }
int main(void) {
    for (int i = 0; i < N; i++) spawn(increase, i);
    for (int i = 0; i < WRITERS; i++) spawn(writer, i);
    join_all();
    assert(load(&x, rlx) >= 10 || WRITERS == 0);
    return 0;
}
