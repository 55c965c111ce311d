// expect: liveness 10
#include <genmc.h>
#include <stdatomic.h>
atomic_int x;
int main(void) {
    int go;
    do {
        __VERIFIER_spin_start();
        go = atomic_load(&x);
        __VERIFIER_spin_end(go);
    } while (!go);
    return 0;
}
