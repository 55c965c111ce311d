/* A ring buffer for one producer and one consumer. */
#include "common.h"

#ifndef N
#define N 2
#endif
#define SIZE 2
static int buffer[SIZE];
static atomic_uint head, tail;
static void *producer(void *arg) {
    for (int i = 1; i <= N; i++) {
        unsigned t = load(&tail, rlx);
        while (t - load(&head, acq) == SIZE) {}
        buffer[t % SIZE] = i;
#ifdef BUG_RELAXED
        store(&tail, t + 1, rlx);
#else
        store(&tail, t + 1, rel);
#endif
    }
    return NULL;
}
static void *consumer(void *arg) {
    for (int i = 1; i <= N; i++) {
        unsigned h = load(&head, rlx);
        while (load(&tail, acq) == h) {}
        assert(buffer[h % SIZE] == i);
        store(&head, h + 1, rel);
    }
    return NULL;
}
int main(void) {
    spawn(producer, 0);
    spawn(consumer, 0);
    join_all();
    return 0;
}
