/* Message passing: the reader looks for the flag L times at most. */
#include "../common.h"

#ifndef L
#define L 10
#endif
static atomic_int data, flag;
static void *writer(void *arg) {
    store(&data, 1, rlx);
    store(&flag, 1, rel);
    return NULL;
}
static void *reader(void *arg) {
    for (int i = 0; i < L; i++) {
        if (load(&flag, acq)) {
            assert(load(&data, rlx) == 1);
            break;
        }
    }
    return NULL;
}
int main(void) {
    spawn(writer, 0);
    spawn(reader, 0);
    join_all();
    return 0;
}
