// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *unused) {
    struct timespec at = {1, 0};
    int r = pthread_mutex_timedlock(&m, &at);
    assert(r == 0 || r == ETIMEDOUT);
    if (r == 0) pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    return 0;
}
