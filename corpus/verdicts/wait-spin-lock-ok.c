// expect: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_flag l = ATOMIC_FLAG_INIT;
static int n;
static void *add(void *unused) {
    while (atomic_flag_test_and_set_explicit(&l, memory_order_acquire)) {}
    n++;
    atomic_flag_clear_explicit(&l, memory_order_release);
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
