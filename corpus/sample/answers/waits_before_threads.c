// A program that waits for ever before it has a thread.
#include <pthread.h>
#include <unistd.h>

static void *work(void *unused) { return unused; }

int main(void) {
    int ends[2];
    char byte;
    pthread_t thread;
    if (pipe(ends) || read(ends[0], &byte, 1) < 0) return 1;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
