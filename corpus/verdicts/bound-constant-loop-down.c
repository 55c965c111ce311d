// expect: assertion 17
// options: --unroll 2
// It counts down, and may end early.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static void *run(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    unsigned n = 5;
    while (n-- > 0)
        assert(n != 0 || atomic_load(&x) == 0);
    pthread_join(t, 0);
    return 0;
}
