// Who locks a robust mutex whose owner died is told so, and can make it usable again or not.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mended, lost;

static void *die(void *unused) {
    pthread_mutex_lock(&mended);
    pthread_mutex_lock(&lost);
    return unused;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mended, &attr);
    pthread_mutex_init(&lost, &attr);
    pthread_t thread;
    pthread_create(&thread, 0, die, 0);
    int error = pthread_mutex_lock(&mended);
    if (error == 0) {
        pthread_mutex_unlock(&mended);
        pthread_join(thread, 0);
        error = pthread_mutex_lock(&mended);
    } else {
        pthread_join(thread, 0);
    }
    assert(error == EOWNERDEAD);
    assert(pthread_mutex_consistent(&mended) == 0);
    assert(pthread_mutex_unlock(&mended) == 0);
    assert(pthread_mutex_lock(&mended) == 0 && pthread_mutex_unlock(&mended) == 0);
    assert(pthread_mutex_trylock(&lost) == EOWNERDEAD);
    assert(pthread_mutex_unlock(&lost) == 0);
    assert(pthread_mutex_lock(&lost) == ENOTRECOVERABLE);
    return 0;
}
