// expect: race 12
// expect: race 19
// models: rc11
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
static void *run(void *unused) {
    if (pthread_mutex_trylock(&m) == 0) {
        x++;
        pthread_mutex_unlock(&m);
    } else
        x++;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
