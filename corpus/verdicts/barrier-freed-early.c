// expect: memory 6
// expect: memory 12
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t *barrier;
static void *run(void *unused) { pthread_barrier_wait(barrier); return 0; }
int main(void) {
    pthread_t t;
    barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, 0, 1);
    pthread_create(&t, 0, run, 0);
    free(barrier);
    pthread_join(t, 0);
    return 0;
}
