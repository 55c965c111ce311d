// Each thread has a number of its own, and gets the signals that are sent to that number.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int caught_by;
static atomic_int number;

static void handler(int signal) { atomic_store(&caught_by, gettid()); }

static void *run(void *unused) {
    assert(gettid() == syscall(SYS_gettid) && gettid() != getpid());
    atomic_store(&number, gettid());
    while (!atomic_load(&caught_by)) usleep(10);
    assert(atomic_load(&caught_by) == gettid());
    return unused;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, 0, run, 0);
    assert(gettid() == getpid());
    while (!atomic_load(&number)) usleep(10);
    assert(atomic_load(&number) != getpid());
    assert(syscall(SYS_tgkill, getpid(), atomic_load(&number), SIGUSR1) == 0);
    pthread_join(thread, 0);
    return 0;
}
