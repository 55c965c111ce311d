// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *unused) {
    int r = pthread_mutex_trylock(&m);
    assert(r == 0 || r == EBUSY);
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
