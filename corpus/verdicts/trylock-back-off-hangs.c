// expect: liveness 7
// models: sc tso ra rc11 c20
// The second lock is never given back.
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *unused) {
    while (pthread_mutex_lock(&a), pthread_mutex_trylock(&b) != 0) pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return 0;
}
int main(void) {
    pthread_t x;
    pthread_mutex_lock(&b);
    pthread_create(&x, 0, one, 0);
    pthread_join(x, 0);
    return 0;
}
