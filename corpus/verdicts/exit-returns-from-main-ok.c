// expect: safe
// A detached thread that is still running ends with the process.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *run(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_detach(t);
    return 0;
}
