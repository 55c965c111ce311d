// expect: safe
#include <pthread.h>
#include <stdlib.h>
/* Whoever is told so destroys the barrier while the others are still on their way out. */
static pthread_barrier_t *barrier;
static void *run(void *unused) {
    if (pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(barrier);
        free(barrier);
    }
    return 0;
}
int main(void) {
    pthread_t t[2];
    barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, 0, 2);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
