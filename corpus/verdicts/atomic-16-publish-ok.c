// expect: safe
// models: rc11 c20 imm tso armv8
// A pair of words, stored in one step with release, publishes what its pointer points to.
#include <pthread.h>
#include <stdatomic.h>
struct Pair { int *data; unsigned long tag; };
static int data;
static _Atomic struct Pair shared;
static void *writer(void *unused) {
    data = 42;
    atomic_store_explicit(&shared, ((struct Pair){&data, 1}), memory_order_release);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    struct Pair found = atomic_load_explicit(&shared, memory_order_acquire);
    if (found.data && *found.data != 42)
        return 1;
    pthread_join(t, 0);
    return 0;
}
