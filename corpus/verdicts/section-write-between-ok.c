// expect: safe
// models: sc tso
// A function of this name is a section: nobody writes between its accesses.
#include <assert.h>
#include <pthread.h>
int x;
static int __VERIFIER_atomic_add(void) {
    int before = x;
    x = before + 1;
    return x - before;
}
static void *run(void *unused) {
    x = 7;
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int difference = __VERIFIER_atomic_add();
    assert(difference == 1);
    pthread_join(t, 0);
    assert(x == 7 || x == 8);
    return 0;
}
