// expect: liveness 7
// models: lkmm
#include <lkmm.h>
#include <pthread.h>
int l = 1;
static void *run(void *unused) {
    while (xchg_acquire(&l, 1))
        ;
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
