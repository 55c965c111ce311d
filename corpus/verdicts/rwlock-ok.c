// expect: safe
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int x;
static void *run(void *unused) {
    pthread_rwlock_wrlock(&l);
    x = 1;
    pthread_rwlock_unlock(&l);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_rwlock_rdlock(&l);
    int r = x;
    pthread_rwlock_unlock(&l);
    pthread_join(t, 0);
    return r > 1;
}
