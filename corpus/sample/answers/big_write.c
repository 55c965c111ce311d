// More is written to a pipe and to a socket than they hold: the reader is a thread of the same program.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };
static int ends[2];
static char data[SIZE];
static int seen;

enum how { WRITE, WRITEV, SENDMSG };

static void *reader(void *unused) {
    static char buffer[SIZE];
    size_t count = 0;
    for (ssize_t got; count < SIZE && (got = read(ends[0], buffer + count, SIZE - count)) > 0; count += got) {}
    if (count != SIZE || buffer[SIZE - 1] != 7) abort();
    seen = data[0];
    return unused;
}

static ssize_t put(enum how how) {
    struct iovec parts[] = {{data, 1}, {data + 1, SIZE / 2}, {data + 1 + SIZE / 2, SIZE - 1 - SIZE / 2}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    return how == WRITE ? write(ends[1], data, SIZE) : how == WRITEV ? writev(ends[1], parts, 3) : sendmsg(ends[1], &message, 0);
}

static void transfer(enum how how) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    data[0] = 1;
    data[SIZE - 1] = 7;
    if (put(how) != SIZE) abort();
    pthread_join(thread, 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    for (enum how how = WRITE; how <= WRITEV; how++) {
        if (pipe(ends)) abort();
        transfer(how);
    }
    for (enum how how = WRITE; how <= SENDMSG; how++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
        transfer(how);
    }
    return 0;
}
