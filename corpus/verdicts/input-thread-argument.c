// expect: assertion 7
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
long __VERIFIER_nondet_long(void);
static void *run(void *number) {
    assert((intptr_t)number != -12);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, (void *)(intptr_t)__VERIFIER_nondet_long());
    pthread_join(t, 0);
    return 0;
}
