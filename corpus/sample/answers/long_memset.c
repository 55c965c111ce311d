// Work of several seconds between two steps is progress.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *unused) {
    size_t size = 16 << 20;
    char *memory = malloc(size);
    for (int i = 0; i < 60; i++) {
        memset(memory, i, size);
        __asm__ volatile("" ::"r"(memory) : "memory");
    }
    free(memory);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
