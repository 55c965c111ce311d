/* A bounded queue for many producers and consumers, after Vyukov. */
#include "common.h"

#ifndef PRODUCERS
#define PRODUCERS 1
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif
#define SIZE 2
struct cell { atomic_uint turn; int data; };
static struct cell buffer[SIZE];
static atomic_uint in, out;
static int enqueue(int value) {
    unsigned at = load(&in, rlx);
    for (;;) {
        struct cell *c = &buffer[at % SIZE];
        int ahead = (int)(load(&c->turn, acq) - at);
        if (ahead == 0) {
            if (cas(&in, &at, at + 1, rlx)) {
                c->data = value;
#ifdef BUG_RELAXED
                store(&c->turn, at + 1, rlx);
#else
                store(&c->turn, at + 1, rel);
#endif
                return 1;
            }
        } else if (ahead < 0) {
            return 0;
        } else {
            at = load(&in, rlx);
        }
    }
}
static int dequeue(void) {
    unsigned at = load(&out, rlx);
    for (;;) {
        struct cell *c = &buffer[at % SIZE];
        int ahead = (int)(load(&c->turn, acq) - (at + 1));
        if (ahead == 0) {
            if (cas(&out, &at, at + 1, rlx)) {
                int value = c->data;
                store(&c->turn, at + SIZE, rel);
                return value;
            }
        } else if (ahead < 0) {
            return 0;
        } else {
            at = load(&out, rlx);
        }
    }
}
static void *producer(void *arg) { enqueue((int)(long)arg); return NULL; }
static void *consumer(void *arg) { int v = dequeue(); assert(0 <= v && v <= PRODUCERS); return NULL; }
int main(void) {
    for (unsigned i = 0; i < SIZE; i++) store(&buffer[i].turn, i, rlx);
    for (int i = 1; i <= PRODUCERS; i++) spawn(producer, i);
    for (int i = 0; i < CONSUMERS; i++) spawn(consumer, i);
    join_all();
    return 0;
}
