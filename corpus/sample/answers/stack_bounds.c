// A thread that asks for the bounds of its stack is told those it runs on, as large as it asked for.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static const size_t large = 32 << 20;

static void check_bounds(size_t least) {
    pthread_attr_t attr;
    void *start;
    size_t size, only_size;
    int state;
    char here;
    assert(!pthread_getattr_np(pthread_self(), &attr));
    assert(!pthread_attr_getstack(&attr, &start, &size));
    assert(!pthread_attr_getstacksize(&attr, &only_size) && only_size == size);
    assert(!pthread_attr_getdetachstate(&attr, &state) && state == PTHREAD_CREATE_JOINABLE);
    assert((uintptr_t)start < (uintptr_t)&here && (uintptr_t)&here < (uintptr_t)start + size);
    assert(size >= least);
    pthread_attr_destroy(&attr);
}

__attribute__((noinline)) static int deep(int depth) {
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth == 0 ? frame[0] : deep(depth - 1) + frame[0] * 0;
}

static void *ordinary(void *unused) {
    check_bounds(64 << 10);
    return unused;
}

static void *deeper(void *unused) {
    check_bounds(large);
    assert(deep(24 << 20 >> 12) == 0);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, large);
    pthread_create(&threads[0], 0, ordinary, 0);
    pthread_create(&threads[1], &attr, deeper, 0);
    check_bounds(64 << 10);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
