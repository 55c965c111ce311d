// expect: safe
// Nobody looks at the number.
#include <pthread.h>
int __VERIFIER_nondet_int(void);
static void *run(void *unused) { return 0; }
int main(void) {
    pthread_t t;
    int x = __VERIFIER_nondet_int();
    (void)x;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
