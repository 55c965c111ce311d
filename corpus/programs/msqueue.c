/* The queue of Michael and Scott; nodes are not freed. */
#include "common.h"

#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef READERS
#define READERS 1
#endif
struct node { int value; _Atomic(struct node *) next; };
static _Atomic(struct node *) head, tail;
static void init(void) {
    struct node *n = malloc(sizeof *n);
    store(&n->next, NULL, rlx);
    store(&head, n, rlx);
    store(&tail, n, rlx);
}
static void enqueue(int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value;
    store(&n->next, NULL, rlx);
    for (;;) {
        struct node *t = load(&tail, acq);
        struct node *next = load(&t->next, acq);
        if (t != load(&tail, acq)) continue;
        if (!next) {
#ifdef BUG_RELAXED
            if (cas(&t->next, &next, n, rlx)) {
#else
            if (cas(&t->next, &next, n, rel)) {
#endif
                cas(&tail, &t, n, rel);
                return;
            }
        } else {
            cas(&tail, &t, next, rel);
        }
    }
}
static int dequeue(void) {
    for (;;) {
        struct node *h = load(&head, acq);
        struct node *t = load(&tail, acq);
        struct node *next = load(&h->next, acq);
        if (h != load(&head, acq)) continue;
        if (h == t) {
            if (!next) return -1;
            cas(&tail, &t, next, rel);
        } else {
            int value = next->value;
            if (cas(&head, &h, next, rel)) return value;
        }
    }
}
static void *writer(void *arg) { enqueue((int)(long)arg); return NULL; }
static void *reader(void *arg) { int v = dequeue(); assert(v == -1 || (1 <= v && v <= WRITERS)); return NULL; }
int main(void) {
    init();
    for (int i = 1; i <= WRITERS; i++) spawn(writer, i);
    for (int i = 0; i < READERS; i++) spawn(reader, i);
    join_all();
    return 0;
}
