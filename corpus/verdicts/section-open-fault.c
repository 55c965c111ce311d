// expect: assertion 13
// models: sc
// What goes wrong inside of a section goes wrong.
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int x;
static void *run(void *unused) {
    __VERIFIER_atomic_begin();
    int now = x;
    x = 2;
    assert(now == 0);
    __VERIFIER_atomic_end();
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    x = 1;
    pthread_join(t, 0);
    return 0;
}
