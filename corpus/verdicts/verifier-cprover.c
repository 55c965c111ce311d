// expect: assertion 22
// CBMC's names for assumptions, assertions and atomic sections.
#include <pthread.h>
void __CPROVER_assume(_Bool);
void __CPROVER_assert(_Bool, const char *);
void __CPROVER_atomic_begin(void);
void __CPROVER_atomic_end(void);
int x, y;
void *run(void *unused) {
    __CPROVER_atomic_begin();
    x++;
    y++;
    __CPROVER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    __CPROVER_atomic_begin();
    __CPROVER_assert(x == y, "both or none");
    __CPROVER_assert(x == 0, "none");
    __CPROVER_assume(x == 0);
    __CPROVER_atomic_end();
    pthread_join(t, 0);
}
