// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
pthread_barrier_t b;
int main(void) {
    assert(pthread_barrier_init(&b, 0, 0) == EINVAL);
    return 0;
}
