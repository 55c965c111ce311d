// expect: safe
// Two reads of one variable do not go back.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *run(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int a = atomic_load_explicit(&x, memory_order_relaxed);
    int b = atomic_load_explicit(&x, memory_order_relaxed);
    assert(a <= b);
    pthread_join(t, 0);
    return 0;
}
