// Creates a file that must not exist, having removed it before the first thread.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char name[64];

static void *creator(void *unused) {
    int file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0) _exit(1);
    close(file);
    return unused;
}

int main(void) {
    pthread_t thread;
    snprintf(name, sizeof name, "/tmp/porf-exclusive-%d", (int)getuid());
    unlink(name);
    pthread_create(&thread, 0, creator, 0);
    pthread_join(thread, 0);
    return 0;
}
