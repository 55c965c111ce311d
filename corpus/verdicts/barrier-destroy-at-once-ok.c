// expect: safe
#include <pthread.h>
pthread_barrier_t b;
static void *run(void *unused) {
    pthread_barrier_wait(&b);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, run, 0);
    pthread_barrier_wait(&b);
    pthread_barrier_destroy(&b);
    pthread_join(t, 0);
    return 0;
}
