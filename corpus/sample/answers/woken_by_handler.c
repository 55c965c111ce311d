// The only thread waits on a condition variable; a handler that interrupts it sets the flag and wakes it.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile sig_atomic_t done;

static void handler(int signal) {
    (void)signal;
    done = 1;
    pthread_cond_signal(&condition);
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, 0);
    alarm(1);
    pthread_mutex_lock(&mutex);
    while (!done) pthread_cond_wait(&condition, &mutex);
    return pthread_mutex_unlock(&mutex);
}
