// What was put into a pipe before the first thread can be read once in every execution.
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *reader(void *unused) {
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1 || byte != 'x') _exit(1);
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) || write(ends[1], "x", 1) != 1) return 1;
    close(ends[1]);
    pthread_create(&thread, 0, reader, 0);
    return pthread_join(thread, 0);
}
