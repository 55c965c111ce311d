// expect: assertion 10
#include <assert.h>
#include <pthread.h>
int main(void) {
    pthread_mutexattr_t a;
    pthread_mutex_t m;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &a);
    assert(pthread_mutex_unlock(&m) == 0);
    return 0;
}
