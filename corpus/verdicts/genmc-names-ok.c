// expect: safe
#include <assert.h>
#include <genmc.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { int value; };
static struct node *_Atomic top;
static atomic_int taken, counter;
static void *reader(void *unused) {
    __VERIFIER_hp_t *hazard = __VERIFIER_hp_alloc();
    struct node *seen = __VERIFIER_hp_protect(hazard, &top);
    if (seen) assert(seen->value == 7);
    __VERIFIER_hp_clear(hazard);
    __VERIFIER_hp_free(hazard);
    return NULL;
}
static void *worker(void *unused) {
    int old = __VERIFIER_speculative_read(atomic_load(&counter););
    while (!__VERIFIER_confirming_CAS(atomic_compare_exchange_strong(&counter, &old, old + 1);)) {}
    __VERIFIER_helping_CAS(atomic_fetch_add(&taken, 1););
    return NULL;
}
int main(void) {
    struct node *first = malloc(sizeof *first);
    first->value = 7;
    atomic_store(&top, first);
    __VERIFIER_thread_t r = __VERIFIER_spawn(reader, NULL);
    __VERIFIER_thread_t a = __VERIFIER_spawn(worker, NULL);
    __VERIFIER_thread_t b = __VERIFIER_spawn_symmetric(worker, NULL, a);
    struct node *old = atomic_exchange(&top, NULL);
    __VERIFIER_hp_retire(old);
    __VERIFIER_join(r);
    __VERIFIER_join_symmetric(a);
    __VERIFIER_join_symmetric(b);
    assert(counter == 2 && taken == 2);
    return 0;
}
