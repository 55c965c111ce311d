// expect: safe
#include <assert.h>
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int a, b;
static void *set(void *unused) {
    pthread_rwlock_wrlock(&l);
    a++;
    b++;
    pthread_rwlock_unlock(&l);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    pthread_rwlock_rdlock(&l);
    assert(a == b);
    pthread_rwlock_unlock(&l);
    pthread_join(t, 0);
    return 0;
}
