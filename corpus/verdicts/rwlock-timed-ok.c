// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static void *run(void *unused) {
    struct timespec at = {1, 0};
    int r = pthread_rwlock_timedwrlock(&l, &at);
    assert(r == 0 || r == ETIMEDOUT);
    if (r == 0) pthread_rwlock_unlock(&l);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_rwlock_rdlock(&l);
    pthread_create(&t, 0, run, 0);
    pthread_rwlock_unlock(&l);
    pthread_join(t, 0);
    return 0;
}
