// A signal reaches a thread that waits, whatever it waits for; pause and sigsuspend let others run.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int handled, in_mutex, awake;
static sem_t never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) { atomic_fetch_add(&handled, 1); }

static void *pausing(void *unused) {
    assert(pause() == -1 && errno == EINTR);
    atomic_fetch_add(&awake, 1);
    return unused;
}

static void *sleeping(void *unused) {
    struct timespec time = {1000000, 0}, left = {0, 0};
    assert(nanosleep(&time, &left) == -1 && errno == EINTR && left.tv_sec > 0);
    atomic_fetch_add(&awake, 1);
    return unused;
}

static void *counting(void *unused) {
    assert(sem_wait(&never) == -1 && errno == EINTR);
    atomic_fetch_add(&awake, 1);
    return unused;
}

static void *suspended(void *unused) {
    sigset_t none;
    sigemptyset(&none);
    assert(sigsuspend(&none) == -1 && errno == EINTR);
    atomic_fetch_add(&awake, 1);
    return unused;
}

static void *locking(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    sem_init(&never, 0, 0);
    void *(*functions[4])(void *) = {pausing, sleeping, counting, suspended};
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        int before = atomic_load(&awake);
        pthread_create(&thread, 0, functions[i], 0);
        // Until it waits, a signal may come too early.
        while (atomic_load(&awake) == before) {
            pthread_kill(thread, SIGUSR1);
            usleep(100);
        }
        pthread_join(thread, 0);
    }
    pthread_mutex_lock(&lock);
    pthread_t thread;
    pthread_create(&thread, 0, locking, 0);
    int before = atomic_load(&handled);
    pthread_kill(thread, SIGUSR1);
    while (atomic_load(&handled) == before) {}
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
