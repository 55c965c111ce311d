// expect: safe
#include <pthread.h>
static void *run(void *b) {
    pthread_barrier_wait(b);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_barrier_t b;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, run, &b);
    pthread_barrier_wait(&b);
    pthread_join(t, 0);
    return pthread_barrier_destroy(&b);
}
