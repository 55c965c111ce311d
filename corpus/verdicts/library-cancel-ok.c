// expect: safe
// models: rc11 tso
// A thread that is cancelled runs its handlers, the last first.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
int order;
static void note(void *digit) { order = order * 10 + *(int *)digit; }
static void *thread(void *arg) {
    int one = 1, two = 2;
    pthread_cleanup_push(note, &one);
    pthread_cleanup_push(note, &two);
    for (;;)
        sleep(1);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return 0;
}
int main(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, 0, thread, 0);
    pthread_cancel(t);
    pthread_join(t, &result);
    assert(result == PTHREAD_CANCELED);
    assert(order == 21);
}
