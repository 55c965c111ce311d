// expect: assertion 19
// models: rc11
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int r;
static void *run(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    r = atomic_load_explicit(&y, memory_order_relaxed);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    int s = atomic_load_explicit(&x, memory_order_relaxed);
    pthread_join(t, 0);
    assert(r || s);
    return 0;
}
