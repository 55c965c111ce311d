// expect: liveness 6
#include <pthread.h>
#include <stdatomic.h>
atomic_int a, b;
static void take(atomic_int *lock) {
    while (atomic_exchange(lock, 1)) {
    }
}
static void *one(void *unused) {
    take(&a);
    take(&b);
    atomic_store(&b, 0);
    atomic_store(&a, 0);
    return unused;
}
static void *two(void *unused) {
    take(&b);
    take(&a);
    atomic_store(&a, 0);
    atomic_store(&b, 0);
    return unused;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, one, 0);
    pthread_create(&u, 0, two, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
