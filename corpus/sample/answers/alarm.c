// An alarm ends a pause while no other thread can run.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int rang;

static void handler(int signal) { atomic_store(&rang, 1); }

static void *nothing(void *unused) { return unused; }

int main(void) {
    pthread_t thread;
    signal(SIGALRM, handler);
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    alarm(2);
    while (!atomic_load(&rang)) pause();
    return 0;
}
