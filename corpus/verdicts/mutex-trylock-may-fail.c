// expect: assertion 13
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *unused) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    assert(pthread_mutex_trylock(&m) == 0);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
