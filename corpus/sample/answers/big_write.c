// More is written to a pipe and to a socket than they hold: the reader is a thread of the same program.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };
static int ends[2];
static char data[SIZE];
static int seen;

static void *reader(void *unused) {
    static char buffer[SIZE];
    size_t count = 0;
    for (ssize_t got; count < SIZE && (got = read(ends[0], buffer + count, SIZE - count)) > 0; count += got) {}
    if (count != SIZE || buffer[SIZE - 1] != 7) abort();
    seen = data[0];
    return unused;
}

static void transfer(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    data[0] = 1;
    data[SIZE - 1] = 7;
    if (write(ends[1], data, SIZE) != SIZE) abort();
    pthread_join(thread, 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    if (pipe(ends)) abort();
    transfer();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
    transfer();
    return 0;
}
