/* Store buffering: does one of two threads see the other? */
#include "common.h"

#ifdef BUG_RELAXED
#define M rlx
#define R rlx
#else
#define M sc
#define R sc
#endif
static atomic_int x, y, a, b;
static void *one(void *arg) { store(&x, 1, M); store(&a, load(&y, R), rlx); return NULL; }
static void *two(void *arg) { store(&y, 1, M); store(&b, load(&x, R), rlx); return NULL; }
int main(void) {
    spawn(one, 0);
    spawn(two, 0);
    join_all();
    assert(load(&a, rlx) || load(&b, rlx));
    return 0;
}
