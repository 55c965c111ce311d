// expect: safe
// models: rc11
// A handler runs in the thread that raises the signal.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static __thread volatile sig_atomic_t seen;
static void handler(int number) { seen = number; }
static void *thread(void *arg) {
    raise(SIGUSR1);
    assert(seen == SIGUSR1);
    return 0;
}
int main(void) {
    signal(SIGUSR1, handler);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    assert(seen == 0);
}
