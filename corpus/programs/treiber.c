/* Treiber's stack; nodes are not freed. */
#include "common.h"

#ifndef PUSHERS
#define PUSHERS 2
#endif
#ifndef POPPERS
#define POPPERS 1
#endif
struct node { int value; struct node *next; };
static _Atomic(struct node *) top;
static void push(int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value;
    struct node *old;
    do {
        old = load(&top, rlx);
        n->next = old;
#ifdef BUG_RELAXED
    } while (!cas(&top, &old, n, rlx));
#else
    } while (!cas(&top, &old, n, rel));
#endif
}
static int pop(void) {
    struct node *old;
    do {
        old = load(&top, acq);
        if (!old) return -1;
    } while (!cas(&top, &old, old->next, acq));
    int value = old->value;
#ifdef BUG_FREE
    free(old);
#endif
    return value;
}
static void *pusher(void *arg) { push((int)(long)arg); return NULL; }
static void *popper(void *arg) { int v = pop(); assert(v == -1 || (1 <= v && v <= PUSHERS)); return NULL; }
int main(void) {
    for (int i = 1; i <= PUSHERS; i++) spawn(pusher, i);
    for (int i = 0; i < POPPERS; i++) spawn(popper, i);
    join_all();
    return 0;
}
