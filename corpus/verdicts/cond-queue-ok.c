// expect: safe
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int count, item;
static void *put(void *unused) {
    pthread_mutex_lock(&m);
    item = 7;
    count = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, put, 0);
    pthread_mutex_lock(&m);
    while (!count)
        pthread_cond_wait(&c, &m);
    assert(item == 7);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
