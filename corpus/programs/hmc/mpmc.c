/* A bounded queue for many producers and consumers, after Vyukov: N threads put an item and take one. */
#include "../common.h"

#ifndef N
#define N 2
#endif
#ifndef BOUND
#define BOUND 1000000
#endif
#define SIZE 2
struct cell { atomic_uint turn; int data; };
static struct cell buffer[SIZE];
static atomic_uint in, out;
static int enqueue(int value) {
    unsigned at = load(&in, rlx);
    for (int i = 0; i < BOUND; i++) {
        struct cell *c = &buffer[at % SIZE];
        int ahead = (int)(load(&c->turn, acq) - at);
        if (ahead == 0) {
            if (cas(&in, &at, at + 1, rlx)) {
                c->data = value;
                store(&c->turn, at + 1, rel);
                return 1;
            }
        } else if (ahead < 0) {
            return 0;
        } else {
            at = load(&in, rlx);
        }
    }
    return 0;
}
static int dequeue(void) {
    unsigned at = load(&out, rlx);
    for (int i = 0; i < BOUND; i++) {
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
    return 0;
}
static void *run(void *arg) {
    enqueue((int)(long)arg);
    int value = dequeue();
    assert(0 <= value && value <= N);
    return NULL;
}
int main(void) {
    for (unsigned i = 0; i < SIZE; i++) store(&buffer[i].turn, i, rlx);
    for (int i = 1; i <= N; i++) spawn(run, i);
    join_all();
    return 0;
}
