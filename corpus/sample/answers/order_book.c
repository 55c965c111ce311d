// Two threads put many nodes with atomics on a list and keep them all: most are not touched again for long.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NODES = 20000 };
struct node {
    _Atomic(struct node *) next;
    atomic_int marked;
    long price, size;
};
static _Atomic(struct node *) book;

static void *trader(void *unused) {
    for (int i = 0; i < NODES; i++) {
        struct node *node = malloc(sizeof *node);
        atomic_init(&node->next, NULL);
        atomic_init(&node->marked, 0);
        node->price = i;
        node->size = 1;
        struct node *first = atomic_load(&book);
        do
            atomic_store_explicit(&node->next, first, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(&book, &first, node));
    }
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, trader, NULL);
    pthread_create(&second, NULL, trader, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    long size = 0;
    for (struct node *node = atomic_load(&book); node; node = atomic_load(&node->next))
        size += node->size + atomic_load(&node->marked);
    return size == 2 * NODES ? 0 : 1;
}
