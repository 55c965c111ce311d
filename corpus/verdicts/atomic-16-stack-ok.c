// expect: safe
// models: rc11 tso
// A stack with a tag beside its top: two threads take one node each.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct Node { struct Node *next; };
struct Top { struct Node *node; unsigned long tag; };
static struct Node nodes[2];
static _Atomic struct Top top;
static struct Node *pop(void) {
    struct Top old = atomic_load(&top), new;
    do {
        new.node = old.node->next;
        new.tag = old.tag + 1;
    } while (!atomic_compare_exchange_strong(&top, &old, new));
    return old.node;
}
static void *thread(void *arg) { return pop(); }
int main(void) {
    nodes[0].next = &nodes[1];
    struct Top first = {&nodes[0], 0};
    atomic_store(&top, first);
    pthread_t t;
    void *theirs;
    pthread_create(&t, 0, thread, 0);
    struct Node *mine = pop();
    pthread_join(t, &theirs);
    assert(mine != theirs && mine && theirs);
}
