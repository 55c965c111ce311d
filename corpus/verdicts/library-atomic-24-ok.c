// expect: safe
// models: rc11
// An atomic structure that is too large for an instruction.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct Three { long a, b, c; };
static _Atomic struct Three shared;
static void *thread(void *arg) {
    struct Three v = {1, 2, 3};
    atomic_store(&shared, v);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    struct Three seen = atomic_load(&shared);
    assert(seen.a == 0 || seen.c == 3);
    pthread_join(t, 0);
    seen = atomic_load(&shared);
    assert(seen.b == 2);
}
