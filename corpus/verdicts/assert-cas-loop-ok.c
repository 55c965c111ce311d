// expect: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *run(void *unused) {
    int old = atomic_load(&x);
    while (!atomic_compare_exchange_strong(&x, &old, old + 2)) {}
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    assert(x == 4);
    return 0;
}
