// expect: safe
// A pointer that may be anything, and that nobody follows.
#include <pthread.h>
void *__VERIFIER_nondet_pointer(void);
void *run(void *unused) { return __VERIFIER_nondet_pointer(); }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, run, 0);
    pthread_create(&u, 0, run, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
