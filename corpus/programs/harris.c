/* Harris' list: a sorted set whose nodes are marked before they are taken out; they are not freed. */
#include "common.h"

#ifndef INSERTERS
#define INSERTERS 1
#endif
#ifndef REMOVERS
#define REMOVERS 1
#endif
typedef _Atomic(uintptr_t) link;
struct node { int key; link next; };
static link head;
static struct node *at(uintptr_t link) { return (struct node *)(link & ~(uintptr_t)1); }
static int is_marked(uintptr_t link) { return link & 1; }

/* The first node with a key that is not smaller, and the link to it; takes out marked nodes on the way. */
static uintptr_t find(int key, link **to) {
    for (;;) {
        link *before = &head;
        uintptr_t now = load(before, acq);
        int again = 0;
        while (now && !again) {
            uintptr_t next = load(&at(now)->next, acq);
            if (is_marked(next)) {
                uintptr_t expected = now;
                if (cas(before, &expected, next & ~(uintptr_t)1, acq_rel)) now = next & ~(uintptr_t)1;
                else again = 1;
            } else {
                if (at(now)->key >= key) break;
                before = &at(now)->next;
                now = next;
            }
        }
        if (again) continue;
        *to = before;
        return now;
    }
}
static int insert(int key) {
    struct node *new = malloc(sizeof *new);
    new->key = key;
    for (;;) {
        link *to;
        uintptr_t now = find(key, &to);
        if (now && at(now)->key == key) return 0;
        store(&new->next, now, rlx);
#ifdef BUG_RELAXED
        if (cas(to, &now, (uintptr_t)new, rlx)) return 1;
#else
        if (cas(to, &now, (uintptr_t)new, rel)) return 1;
#endif
    }
}
static int removed(int key) {
    for (;;) {
        link *to;
        uintptr_t now = find(key, &to);
        if (!now || at(now)->key != key) return 0;
        uintptr_t next = load(&at(now)->next, acq);
        if (is_marked(next)) continue;
        if (!cas(&at(now)->next, &next, next | 1, acq_rel)) continue;
        cas(to, &now, next, acq_rel);
        return 1;
    }
}
static atomic_int inserted, taken;
static void *inserter(void *arg) { fetch_add(&inserted, insert(1 + (int)(long)arg), rlx); return NULL; }
static void *remover(void *arg) { fetch_add(&taken, removed(1 + (int)(long)arg), rlx); return NULL; }
int main(void) {
    for (int i = 0; i < INSERTERS; i++) spawn(inserter, i);
    for (int i = 0; i < REMOVERS; i++) spawn(remover, i);
    join_all();
    int there = 0;
    for (uintptr_t now = load(&head, acq); now; now = load(&at(now)->next, acq) & ~(uintptr_t)1)
        there += !is_marked(load(&at(now)->next, acq));
    assert(load(&inserted, rlx) == INSERTERS && there == INSERTERS - load(&taken, rlx));
    return 0;
}
