// A loop that waits by epoll, poll and select for what another thread writes.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

static int event, polled[2], selected[2], data[3];

static void *writer(void *unused) {
    data[0] = 1;
    assert(!eventfd_write(event, 1));
    data[1] = 1;
    assert(write(polled[1], "x", 1) == 1);
    data[2] = 1;
    int copy = dup(selected[1]);
    assert(write(copy, "x", 1) == 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    eventfd_t value;
    assert(!pipe(polled) && !pipe(selected));
    event = eventfd(0, EFD_NONBLOCK);
    int queue = epoll_create1(0);
    struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = 77}, ready;
    assert(!epoll_ctl(queue, EPOLL_CTL_ADD, event, &wanted));
    pthread_create(&thread, 0, writer, 0);
    assert(epoll_wait(queue, &ready, 1, -1) == 1 && ready.data.u32 == 77 && data[0] == 1);
    assert(!eventfd_read(event, &value) && value == 1);
    struct pollfd one = {.fd = polled[0], .events = POLLIN};
    assert(poll(&one, 1, -1) == 1 && data[1] == 1);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(selected[0], &set);
    assert(select(selected[0] + 1, &set, 0, 0, 0) == 1 && data[2] == 1);
    return pthread_join(thread, 0);
}
