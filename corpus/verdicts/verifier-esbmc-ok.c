// expect: safe
// ESBMC's names for assumptions, assertions and atomic sections.
#include <pthread.h>
void __ESBMC_assume(_Bool);
void __ESBMC_assert(_Bool, const char *);
void __ESBMC_atomic_begin(void);
void __ESBMC_atomic_end(void);
void __ESBMC_yield(void);
int x, y;
void *run(void *unused) {
    __ESBMC_atomic_begin();
    x++;
    y++;
    __ESBMC_atomic_end();
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    __ESBMC_atomic_begin();
    __ESBMC_assert(x == y, "both or none");
    __ESBMC_assume(x == 0);
    __ESBMC_atomic_end();
    __ESBMC_yield();
    pthread_join(t, 0);
}
