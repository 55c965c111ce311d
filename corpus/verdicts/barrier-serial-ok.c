// expect: safe
#include <assert.h>
#include <pthread.h>
pthread_barrier_t b;
int main(void) {
    pthread_barrier_init(&b, 0, 1);
    assert(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
    return 0;
}
