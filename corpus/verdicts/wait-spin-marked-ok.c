// expect: safe
#include <genmc.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
static void *run(void *unused) {
    atomic_store(&x, 1);
    atomic_store(&y, 1);
    return 0;
}
int main(void) {
    pthread_t t;
    int go;
    pthread_create(&t, 0, run, 0);
    do {
        __VERIFIER_spin_start();
        go = atomic_load(&x) && atomic_load(&y);
        __VERIFIER_spin_end(go);
    } while (!go);
    pthread_join(t, 0);
    return 0;
}
