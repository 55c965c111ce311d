// A volatile store is complete when the block it went to is freed, unmapped or handed to the kernel.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *work(void *unused) {
    volatile int *p = malloc(4);
    *p = 0;
    free((void *)p);
    volatile int *q = malloc(4);
    *q = 1;
    q = realloc((void *)q, 64);
    if (*q != 1) abort();
    free((void *)q);
    volatile int *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 2;
    munmap((void *)page, 4096);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
