// expect: safe
// Locks may be given back in any order.
#include <pthread.h>
int main(void) {
    pthread_mutex_t a, b;
    pthread_mutex_init(&a, 0);
    pthread_mutex_init(&b, 0);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_mutex_destroy(&a);
    pthread_mutex_destroy(&b);
    return 0;
}
