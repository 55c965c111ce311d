// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    struct timespec at = {1, 0};
    pthread_mutex_lock(&m);
    assert(pthread_mutex_timedlock(&m, &at) == ETIMEDOUT);
    return pthread_mutex_unlock(&m);
}
