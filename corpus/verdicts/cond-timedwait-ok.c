// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void) {
    struct timespec at = {1, 0};
    pthread_mutex_lock(&m);
    int r = pthread_cond_timedwait(&c, &m, &at);
    assert(r == ETIMEDOUT);
    return pthread_mutex_unlock(&m);
}
