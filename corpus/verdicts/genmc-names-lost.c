// expect: assertion 18
#include <assert.h>
#include <genmc.h>
#include <stdatomic.h>
static atomic_int counter;
static void *worker(void *unused) {
    int old;
    __VERIFIER_optional(old = atomic_load(&counter););
    __VERIFIER_final_write(atomic_store(&counter, old + 1););
    return NULL;
}
int main(void) {
    __VERIFIER_thread_t a = __VERIFIER_spawn(worker, NULL);
    __VERIFIER_thread_t b = __VERIFIER_spawn_symmetric(worker, NULL, a);
    __VERIFIER_join_symmetric(a);
    __VERIFIER_join_symmetric(b);
    /* Both may have read 0. */
    assert(counter == 2);
    return 0;
}
