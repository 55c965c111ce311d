// refused: no execution is complete; the bound cuts off the loop at
// options: --unroll 3
// The loop reads shared memory, so that the bound cuts it off; the assertion behind it is not reached.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int counter;
static void *run(void *unused) {
    while (atomic_fetch_add(&counter, 1) < 5) {
    }
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    assert(0);
    return 0;
}
