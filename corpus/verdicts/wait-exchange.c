// expect: liveness 8
// models: sc tso pso ra rc11 c20 imm armv8
#include <pthread.h>
#include <stdatomic.h>
atomic_int lock = 1;
static void *run(void *unused) {
    // Nobody ever releases the lock.
    while (atomic_exchange(&lock, 1)) {
    }
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
