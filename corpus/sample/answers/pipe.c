// What is written to a pipe, a socket or an eventfd happens before what is read from it.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], sockets[2], event, closing[2];
static int data[4];

static void *writer(void *unused) {
    char byte = 1;
    data[0] = 1;
    assert(write(ends[1], &byte, 1) == 1);
    data[1] = 1;
    assert(send(sockets[0], &byte, 1, 0) == 1);
    data[2] = 1;
    uint64_t one = 1;
    assert(write(event, &one, 8) == 8);
    data[3] = 1;
    close(closing[1]);
    return unused;
}

int main(void) {
    pthread_t thread;
    char byte;
    uint64_t number;
    assert(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) && !pipe(closing));
    event = eventfd(0, 0);
    pthread_create(&thread, 0, writer, 0);
    assert(read(ends[0], &byte, 1) == 1 && data[0] == 1);
    assert(recv(sockets[1], &byte, 1, 0) == 1 && data[1] == 1);
    assert(read(event, &number, 8) == 8 && data[2] == 1);
    assert(read(closing[0], &byte, 1) == 0 && data[3] == 1);
    pthread_join(thread, 0);
    return 0;
}
