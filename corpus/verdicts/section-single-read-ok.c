// expect: safe
// models: sc tso
// A section is in one piece for everybody: nobody sees x = 1.
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int x;
static void *run(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    x = 2;
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
