// Processes made by vfork and clone: each is a copy with one thread, whose end is not the program's.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int counter, stop;

static void *counts(void *unused) {
    while (!stop) counter++;
    return unused;
}

static int child(void *unused) {
    for (int i = 0; i < 10; i++) counter++;
    exit(3);
}

int main(void) {
    static char stack[1 << 16] __attribute__((aligned(64)));
    pthread_t thread;
    pthread_create(&thread, 0, counts, 0);
    int status;
    pid_t process = clone(child, stack + sizeof stack, SIGCHLD, 0);
    if (process < 0 || waitpid(process, &status, 0) != process || WEXITSTATUS(status) != 3) abort();
    process = vfork();
    if (process == 0) _exit(4);
    if (waitpid(process, &status, 0) != process || WEXITSTATUS(status) != 4) abort();
    stop = 1;
    pthread_join(thread, 0);
    return 0;
}
