// expect: safe
#include <pthread.h>
pthread_barrier_t b;
int x;
static void *run(void *unused) {
    x = 1;
    pthread_barrier_wait(&b);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, run, 0);
    pthread_barrier_wait(&b);
    int r = x;
    pthread_join(t, 0);
    pthread_barrier_destroy(&b);
    return r - 1;
}
