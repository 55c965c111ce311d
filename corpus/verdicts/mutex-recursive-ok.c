// expect: safe
#include <pthread.h>
int main(void) {
    pthread_mutexattr_t a;
    pthread_mutex_t m;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &a);
    int r = pthread_mutex_lock(&m) + pthread_mutex_lock(&m) + pthread_mutex_trylock(&m);
    return r + pthread_mutex_unlock(&m) + pthread_mutex_unlock(&m) + pthread_mutex_unlock(&m);
}
