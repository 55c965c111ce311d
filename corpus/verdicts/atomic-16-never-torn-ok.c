// expect: safe
// models: rc11 ra sc tso pso
// Nobody sees half of a store of 16 bytes, nor of an exchange; the object is initialised half by half.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct Pair { long low, high; };
static _Atomic struct Pair *shared;
static void *writer(void *unused) {
    atomic_store_explicit(shared, ((struct Pair){2, 2}), memory_order_relaxed);
    struct Pair old = atomic_exchange_explicit(shared, ((struct Pair){3, 3}), memory_order_relaxed);
    assert(old.low == 2 && old.high == 2);
    return 0;
}
int main(void) {
    shared = malloc(sizeof *shared);
    struct Pair *plain = (struct Pair *)shared;
    plain->low = 1;
    plain->high = 1;
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    struct Pair a = atomic_load_explicit(shared, memory_order_relaxed);
    struct Pair b = atomic_load_explicit(shared, memory_order_relaxed);
    assert(a.low == a.high && b.low == b.high && a.low <= b.low);
    pthread_join(t, 0);
    assert(plain->low == 3 && plain->high == 3);
    free(plain);
}
