// expect: safe
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static void *run(void *unused) {
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    return x - 2;
}
