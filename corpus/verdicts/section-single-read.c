// expect: assertion 19
// models: sc tso
// What a section writes is seen after it.
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int x, y;
static void *run(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    y = 1;
    __VERIFIER_atomic_end();
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    assert(x != 1);
    pthread_join(t, 0);
    return 0;
}
