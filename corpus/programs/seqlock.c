/* A sequence lock: a reader that sees a change tries again. */
#include "common.h"

static atomic_uint seq;
static atomic_int a, b;
static void *writer(void *arg) {
    unsigned s = load(&seq, rlx);
    store(&seq, s + 1, rlx);
#ifndef BUG_NO_FENCE
    fence(rel);
#endif
    store(&a, 1, rlx);
    store(&b, 1, rlx);
    store(&seq, s + 2, rel);
    return NULL;
}
static void *reader(void *arg) {
    unsigned s;
    int x, y;
    do {
        while ((s = load(&seq, acq)) & 1) {}
        x = load(&a, rlx);
        y = load(&b, rlx);
        fence(acq);
#ifdef BUG_NO_RETRY
    } while (0);
#else
    } while (load(&seq, rlx) != s);
#endif
    assert(x == y);
    return NULL;
}
int main(void) {
    spawn(writer, 0);
    spawn(reader, 0);
#ifdef SECOND_READER
    spawn(reader, 1);
#endif
    join_all();
    return 0;
}
