// expect: race 9
// expect: race 15
// Only one of two inputs leads to the racing write.
#include <pthread.h>
_Bool __VERIFIER_nondet_bool(void);
static int x;
static void *run(void *unused) {
    if (__VERIFIER_nondet_bool())
        x = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int seen = x;
    pthread_join(t, 0);
    return seen;
}
