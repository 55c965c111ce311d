// expect: race 8
// models: rc11
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int x;
static void *run(void *unused) {
    pthread_rwlock_rdlock(&l);
    x++;
    pthread_rwlock_unlock(&l);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    return 0;
}
