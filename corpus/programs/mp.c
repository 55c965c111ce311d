/* Message passing: data, then a flag. */
#include "common.h"

static int data;
static atomic_int flag;
static void *sender(void *arg) {
    data = 42;
#if defined BUG_RELAXED_STORE
    store(&flag, 1, rlx);
#elif defined FENCES
    fence(rel);
    store(&flag, 1, rlx);
#else
    store(&flag, 1, rel);
#endif
    return NULL;
}
static void *receiver(void *arg) {
#if defined BUG_RELAXED_LOAD
    int f = load(&flag, rlx);
#elif defined FENCES
    int f = load(&flag, rlx);
    fence(acq);
#else
    int f = load(&flag, acq);
#endif
    if (f) assert(data == 42);
    return NULL;
}
int main(void) {
    spawn(sender, 0);
    spawn(receiver, 0);
    join_all();
    return 0;
}
