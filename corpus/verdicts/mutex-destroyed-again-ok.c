// expect: safe
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_destroy(&m);
    pthread_mutex_init(&m, 0);
    pthread_mutex_lock(&m);
    return pthread_mutex_unlock(&m);
}
