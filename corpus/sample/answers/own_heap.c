// A program with a malloc of its own, which counts and passes on to the one of the runtime.
#include <pthread.h>
#include <stddef.h>

void *__interceptor_malloc(size_t);
void __interceptor_free(void *);
static int blocks;

void *malloc(size_t size) {
    __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
    return __interceptor_malloc(size);
}

void free(void *block) {
    if (block) __atomic_fetch_sub(&blocks, 1, __ATOMIC_RELAXED);
    __interceptor_free(block);
}

static void *work(void *unused) {
    int *volatile block = malloc(sizeof *block);
    *block = 1;
    free(block);
    return unused;
}

int main(void) {
    pthread_t thread;
    int before = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return __atomic_load_n(&blocks, __ATOMIC_RELAXED) != before;
}
