// expect: assertion 22
#include <assert.h>
#include <pthread.h>
#include <time.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready;
static void *run(void *unused) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    struct timespec at = {1, 0};
    pthread_create(&t, 0, run, 0);
    pthread_mutex_lock(&m);
    if (!ready) {
        int r = pthread_cond_timedwait(&c, &m, &at);
        assert(r == 0);
    }
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
