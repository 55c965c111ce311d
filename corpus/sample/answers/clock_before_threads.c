// Clocks move before the first thread, also by sleeping, and never go back.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t before_threads;

static void *work(void *unused) {
    assert(now(CLOCK_MONOTONIC) > before_threads);
    return unused;
}

int main(void) {
    int64_t start = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) - start < 20000000) {}
    clock_t used = clock();
    while (clock() == used) {}
    struct timeval first, then;
    gettimeofday(&first, 0);
    do gettimeofday(&then, 0);
    while (first.tv_usec == then.tv_usec);
    start = now(CLOCK_MONOTONIC);
    usleep(30000);
    assert(now(CLOCK_MONOTONIC) - start >= 30000000);
    before_threads = now(CLOCK_MONOTONIC);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
