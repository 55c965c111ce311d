// Large blocks that one thread frees and another gets: no races with what the first did to them.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *work(void *unused) {
    for (int i = 0; i < 30; i++) {
        char *block = malloc(1 << 20);
        block[100] = 1;
        block[600000] = 1;
        atomic_store_explicit((atomic_long *)(block + 800000), i, memory_order_relaxed);
        if (atomic_load((atomic_long *)(block + 800000)) != i) abort();
        __asm__ volatile("" ::"r"(block) : "memory");
        free(block);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
