// expect: assertion 25
// models: sc rc11 c20
// options: --unroll 2
// Who tries the first lock in vain sees that another thread has it for a moment.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;
static void *one(void *unused) {
    for (;;) {
        pthread_mutex_lock(&a);
        if (pthread_mutex_trylock(&b) == 0)
            break;
        pthread_mutex_unlock(&a);
    }
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    done = 1;
    return 0;
}
static void *two(void *unused) {
    pthread_mutex_lock(&b);
    int taken = pthread_mutex_trylock(&a);
    assert(taken == 0);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, one, 0);
    pthread_create(&y, 0, two, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
