// The memory of a condition variable may be used for something else before it is signalled: the mutex is given back too
// early.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int done;
};

static void *work(void *argument) {
    struct shared *shared = argument;
    pthread_mutex_lock(&shared->mutex);
    shared->done = 1;
    pthread_mutex_unlock(&shared->mutex);
    pthread_cond_signal(&shared->condition);
    return 0;
}

int main(void) {
    struct shared *shared = malloc(sizeof *shared);
    pthread_t thread;
    pthread_mutex_init(&shared->mutex, 0);
    pthread_cond_init(&shared->condition, 0);
    shared->done = 0;
    pthread_create(&thread, 0, work, shared);
    pthread_mutex_lock(&shared->mutex);
    while (!shared->done) pthread_cond_wait(&shared->condition, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
#ifdef RIGHT
    pthread_join(thread, 0);
    memset(shared, 0, sizeof *shared);
#else
    memset(shared, 0, sizeof *shared);
    pthread_join(thread, 0);
#endif
    free(shared);
}
