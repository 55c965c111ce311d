// expect: safe
#include <pthread.h>
#include <stdlib.h>
/* POSIX: a condition variable may be destroyed as soon as all that waited for it are woken. */
struct gate { pthread_cond_t opened; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gate *gate;
static int waits, open_;
static void *run(void *unused) {
    pthread_mutex_lock(&lock);
    waits = 1;
    while (!open_) pthread_cond_wait(&gate->opened, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t t;
    gate = malloc(sizeof *gate);
    pthread_cond_init(&gate->opened, 0);
    pthread_create(&t, 0, run, 0);
    pthread_mutex_lock(&lock);
    if (waits) {
        open_ = 1;
        pthread_cond_broadcast(&gate->opened);
        pthread_cond_destroy(&gate->opened);
        free(gate);
        pthread_mutex_unlock(&lock);
        pthread_join(t, 0);
        return 0;
    }
    open_ = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    pthread_cond_destroy(&gate->opened);
    free(gate);
    return 0;
}
