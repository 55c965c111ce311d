// Whichever thread runs a handler sees what was done before it was installed.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static int data;

static void handler(int signal) {
    (void)signal;
    if (data != 42) abort();
}

static void *work(void *unused) {
    for (int i = 0; i < 20; i++) usleep(1000);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    struct sigaction action = {.sa_handler = handler};
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    data = 42;
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &timer, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
