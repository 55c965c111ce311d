// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    assert(pthread_mutex_trylock(&m) == 0);
    assert(pthread_mutex_trylock(&m) == EBUSY);
    return pthread_mutex_unlock(&m);
}
