// A condition variable is signalled after its memory was freed.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_cond_t *condition;
static atomic_int freed;

static void *signaller(void *unused) {
    if (atomic_load(&freed)) pthread_cond_signal(condition);
    return unused;
}

int main(void) {
    condition = malloc(sizeof *condition);
    pthread_cond_init(condition, 0);
    pthread_t thread;
    pthread_create(&thread, 0, signaller, 0);
    pthread_cond_destroy(condition);
    free(condition);
    atomic_store(&freed, 1);
    return pthread_join(thread, 0);
}
