// A write to memory after the write to the pipe races with who read the pipe.
#include <pthread.h>
#include <unistd.h>

int ends[2], data;

static void *writer(void *unused) {
    if (write(ends[1], "x", 1) != 1) return unused;
    data = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    char byte;
    if (pipe(ends)) return 1;
    pthread_create(&thread, 0, writer, 0);
    if (read(ends[0], &byte, 1) != 1) return 1;
    int seen = data;
    pthread_join(thread, 0);
    return seen & 2;
}
