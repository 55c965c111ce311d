// expect: lock 12
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *unused) {
    pthread_mutex_lock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    pthread_mutex_destroy(&m);
    return 0;
}
