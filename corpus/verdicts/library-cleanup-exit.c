// expect: assertion 19
// models: rc11
// pthread_exit runs the handlers of pthread_cleanup_push.
#include <assert.h>
#include <pthread.h>
int cleaned;
static void clean(void *arg) { cleaned = 1; }
static void *thread(void *arg) {
    pthread_cleanup_push(clean, 0);
    pthread_exit(0);
    pthread_cleanup_pop(0);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    assert(cleaned == 1);
    assert(cleaned == 0);
}
