// Closes its standard streams at exit and fails if that fails, as many tools do.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void close_streams(void) {
    if (fclose(stdout) || fclose(stderr)) _exit(1);
}

static void *work(void *unused) {
    printf("hello\n");
    return unused;
}

int main(void) {
    atexit(close_streams);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    char byte;
    if (read(0, &byte, 1) < 0) return 1;
    return close(0);
}
