/* Load buffering in a ring of three, and much else to do: the second search has executions to find. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, z, n;

static void *one(void *arg) {
    (void)arg;
    int r = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&n, r, memory_order_relaxed);
    return 0;
}
static void *two(void *arg) {
    (void)arg;
    int r = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&z, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&n, r, memory_order_relaxed);
    return 0;
}
static void *three(void *arg) {
    (void)arg;
    int r = atomic_load_explicit(&z, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&n, r, memory_order_relaxed);
    return 0;
}
int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_create(&c, 0, three, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
