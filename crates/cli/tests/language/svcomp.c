// wrong: assertion
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void), __VERIFIER_assume(int), abort(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
static int x;
static void __VERIFIER_atomic_add(int n) { x += n; }
static void *run(void *arg) {
    __VERIFIER_atomic_begin();
    int old = x;
#ifdef WRONG
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
#endif
    x = old + 1;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_add(1);
    return NULL;
}
int main(void) {
    unsigned char n = __VERIFIER_nondet_uchar();
    __VERIFIER_assume(n < 3);
    pthread_t a, b;
    pthread_create(&a, NULL, run, NULL);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (x + n < 4 || x + n > 6) reach_error();
    return 0;
}
