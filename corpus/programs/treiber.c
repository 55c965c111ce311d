/* Treiber's stack; nodes are not freed.
   With TAGGED the top is a node's number and a count of changes, so that it never has the same value
   twice: without, a compare-and-swap that expects an empty stack also succeeds on one that was filled
   and emptied meanwhile. The executions of the two therefore differ (88 and 80 for two pushers and two
   poppers, 606 and 666 for three and one), as a count over all interleavings confirms. */
#include "common.h"

#ifndef PUSHERS
#define PUSHERS 2
#endif
#ifndef POPPERS
#define POPPERS 1
#endif
/* Threads that push and then pop. */
#ifndef BOTH
#define BOTH 0
#endif

#ifdef TAGGED
struct node { int value; atomic_int next; };
static struct node nodes[PUSHERS + BOTH + 1];
static atomic_long top;
static int number(long top) { return top & 0xff; }
static long with(int number, long top) { return (top & ~0xffl) + 0x100 + number; }
static void push(int value) {
    nodes[value].value = value;
    for (;;) {
        long old = load(&top, acq);
        store(&nodes[value].next, number(old), rlx);
        if (cas(&top, &old, with(value, old), rel)) return;
    }
}
static int pop(void) {
    for (;;) {
        long old = load(&top, acq);
        if (!number(old)) return -1;
        int next = load(&nodes[number(old)].next, acq);
        if (cas(&top, &old, with(next, old), rel)) return nodes[number(old)].value;
    }
}
#else
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
#endif
static void *pusher(void *arg) { push((int)(long)arg); return NULL; }
static void *popper(void *arg) { int v = pop(); assert(v == -1 || (1 <= v && v <= PUSHERS + BOTH)); return NULL; }
static void *both(void *arg) { pusher(arg); popper(arg); return NULL; }
int main(void) {
    for (int i = 1; i <= PUSHERS; i++) spawn(pusher, i);
    for (int i = 0; i < POPPERS; i++) spawn(popper, i);
    for (int i = 1; i <= BOTH; i++) spawn(both, PUSHERS + i);
    join_all();
    return 0;
}
