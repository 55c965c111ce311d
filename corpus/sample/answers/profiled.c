// A profiling timer's handler synchronises with the threads it interrupts.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { COUNT = 20 };
static __thread atomic_int processes;
static int handled, data[COUNT];
static atomic_int ready[COUNT], done;

static void handler(int signal) {
    if (!atomic_load_explicit(&processes, memory_order_relaxed)) return;
    int place = handled++;
    if (place >= COUNT) return;
    data[place] = place;
    atomic_store_explicit(&ready[place], 1, memory_order_release);
}

static void *work(void *unused) {
    atomic_store_explicit(&processes, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) free(malloc(16));
    atomic_store_explicit(&processes, 0, memory_order_relaxed);
    return unused;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGPROF, &action, 0);
    struct itimerval timer = {{0, 10}, {0, 10}}, none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &timer, 0);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    for (int place = 0; place < COUNT; place++) {
        while (!atomic_load_explicit(&ready[place], memory_order_acquire)) {}
        if (data[place] != place) abort();
    }
    setitimer(ITIMER_PROF, &none, 0);
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return pthread_join(thread, 0);
}
