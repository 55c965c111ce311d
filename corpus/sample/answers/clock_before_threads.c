// Clocks move before the first thread, also by sleeping, and never go back.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
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
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    sem_t semaphore;
    sem_init(&semaphore, 0, 1);
    for (int i = 0; i < 4; i++) {
        struct timespec until;
        start = now(CLOCK_REALTIME);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_mutex_lock(&mutex);
        if (i == 0) assert(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
        if (i == 1) assert(sem_timedwait(&semaphore, &until) == 0);
        if (i == 2) assert(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
        if (i == 3) assert(poll(0, 0, 1000) == 0);
        pthread_mutex_unlock(&mutex);
        int64_t passed = now(CLOCK_REALTIME) - start;
        assert(i == 1 ? passed < 500000000 : passed >= 1000000000);
    }
    before_threads = now(CLOCK_MONOTONIC);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
