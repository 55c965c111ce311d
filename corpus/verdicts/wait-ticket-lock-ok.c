// expect: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint next, owner;
static int n;
static void *add(void *unused) {
    unsigned ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&owner, memory_order_acquire) != ticket) {}
    n++;
    atomic_store_explicit(&owner, ticket + 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    assert(n == 2);
    return 0;
}
