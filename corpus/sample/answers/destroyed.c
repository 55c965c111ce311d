// A mutex is locked after its destruction.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int gone;

static void *locker(void *unused) {
    if (atomic_load(&gone)) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, locker, 0);
    pthread_mutex_destroy(&lock);
    atomic_store(&gone, 1);
    return pthread_join(thread, 0);
}
