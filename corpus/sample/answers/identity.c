// setuid and its like change all threads of a process: libc waits for each.
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static void *work(void *unused) {
    sleep(1);
    if (getuid() != geteuid()) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    if (setuid(getuid()) || setgid(getgid()) || setreuid(-1, geteuid()) || setegid(getegid())) abort();
    return pthread_join(thread, 0);
}
