// wrong: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, a, b;
static void *run(void *arg) {
    atomic_int local = 0;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
#ifdef WRONG
    atomic_fetch_add_explicit(&local, 1, memory_order_relaxed);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
    b = atomic_load_explicit(&x, memory_order_relaxed);
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    a = atomic_load_explicit(&y, memory_order_relaxed);
    pthread_join(t, NULL);
    assert(a || b);
    return 0;
}
