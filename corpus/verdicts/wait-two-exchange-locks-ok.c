// expect: safe
#include <pthread.h>
#include <stdatomic.h>
atomic_int a, b;
static void take(atomic_int *lock) {
    while (atomic_exchange(lock, 1)) {
    }
}
static void *both(void *unused) {
    take(&a);
    take(&b);
    atomic_store(&b, 0);
    atomic_store(&a, 0);
    return unused;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, both, 0);
    pthread_create(&u, 0, both, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
