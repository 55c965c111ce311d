/* Load buffering in a ring of N, and much else to do: the second search has executions to find.
 * Every thread reads 0 or 1, and adds what it read to n: with the cycle, 2^N ways times N! orders. */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif
static atomic_int x[N], n;

static void *run(void *arg) {
    long me = (long)arg;
    int r = atomic_load_explicit(&x[me], memory_order_relaxed);
    atomic_store_explicit(&x[(me + 1) % N], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&n, r, memory_order_relaxed);
    return 0;
}
int main(void) {
    pthread_t threads[N];
    for (long me = 0; me < N; me++) pthread_create(&threads[me], 0, run, (void *)me);
    for (long me = 0; me < N; me++) pthread_join(threads[me], 0);
    return 0;
}
