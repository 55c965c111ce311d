// flock between two threads with descriptors of their own.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static char path[] = "/tmp/porf-file-lock-XXXXXX";
static int inside;

static void *work(void *unused) {
    int file = open(path, O_RDWR);
    if (file < 0 || flock(file, LOCK_EX)) abort();
    inside++;
    if (inside != 1) abort();
    sched_yield();
    inside--;
    if (flock(file, LOCK_UN)) abort();
    close(file);
    return unused;
}

int main(void) {
    int file = mkstemp(path);
    if (file < 0) abort();
    close(file);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    unlink(path);
    return 0;
}
