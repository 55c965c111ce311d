// expect: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int r;
static void *run(void *unused) {
    atomic_store(&x, 1);
    r = atomic_load(&y);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    atomic_store(&y, 1);
    int s = atomic_load(&x);
    pthread_join(t, 0);
    assert(r || s);
    return 0;
}
