// expect: safe
// The exchange gives the pointer to one thread only.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic(int *) slot;
static int data;
static void *give(void *unused) {
    data = 1;
    atomic_store(&slot, &data);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, give, 0);
    int *p = atomic_exchange(&slot, 0);
    if (p)
        assert(++*p == 2);
    pthread_join(t, 0);
    return 0;
}
