/* A ring buffer for one producer and one consumer, who each remember how far the other one was. */
#include "common.h"

#ifndef N
#define N 2
#endif
#define SIZE 2
static int buffer[SIZE];
static atomic_uint head, tail;
/* Only the producer knows the first, only the consumer the second. */
static unsigned known_head, known_tail;
static void *producer(void *arg) {
    for (int i = 1; i <= N; i++) {
        unsigned t = load(&tail, rlx);
#ifdef BUG_RELAXED
        while (t - known_head == SIZE) known_head = load(&head, rlx);
#else
        while (t - known_head == SIZE) known_head = load(&head, acq);
#endif
        buffer[t % SIZE] = i;
        store(&tail, t + 1, rel);
    }
    return NULL;
}
static void *consumer(void *arg) {
    for (int i = 1; i <= N; i++) {
        unsigned h = load(&head, rlx);
        while (known_tail == h) known_tail = load(&tail, acq);
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
