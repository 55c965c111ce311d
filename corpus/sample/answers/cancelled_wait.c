// A cancelled wait has its mutex again when the cleanup handler runs; waiting for a mutex is not cancelled.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int shared, reached;

static void leave(void *unused) {
    shared++;
    assert(pthread_mutex_unlock(&lock) == 0);
}

static void *waiter(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(leave, 0);
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return unused;
}

static void *locker(void *unused) {
    pthread_mutex_lock(&other);
    reached = 1;
    pthread_mutex_unlock(&other);
    pthread_testcancel();
    return unused;
}

int main(void) {
    pthread_t first, second;
    void *result;
    pthread_create(&first, 0, waiter, 0);
    pthread_cancel(first);
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    pthread_join(first, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_mutex_lock(&other);
    pthread_create(&second, 0, locker, 0);
    pthread_cancel(second);
    pthread_mutex_unlock(&other);
    pthread_join(second, &result);
    assert(result == PTHREAD_CANCELED && reached == 1);
    return 0;
}
