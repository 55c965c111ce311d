// expect: safe
#include <assert.h>
#include <pthread.h>
static pthread_barrier_t b;
static int x, y;
static void *run(void *unused) {
    x = 1;
    pthread_barrier_wait(&b);
    assert(y == 1);
    return unused;
}
int main(void) {
    pthread_barrier_init(&b, 0, 2);
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    y = 1;
    pthread_barrier_wait(&b);
    assert(x == 1);
    pthread_join(t, 0);
    pthread_barrier_destroy(&b);
    return 0;
}
