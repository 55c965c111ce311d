// Two event loops with timeouts, and descriptors that do not wait: time passes when both only ask.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];
static int items;

static void *loop(void *timeout) {
    for (int i = 0; i < 5; i++) {
        struct pollfd one = {ends[0], POLLIN, 0};
        if (poll(&one, 1, (int)(long)timeout) != 0) abort();
    }
    char byte;
    if (read(ends[0], &byte, 1) != -1 || errno != EAGAIN) abort();
    return 0;
}

static void *consumer(void *unused) {
    struct pollfd one = {ends[0], POLLIN, 0};
    char byte;
    if (poll(&one, 1, -1) != 1 || read(ends[0], &byte, 1) != 1 || items != 1) abort();
    return unused;
}

int main(void) {
    pthread_t a, b;
    if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK)) abort();
    pthread_create(&a, 0, loop, (void *)1000);
    pthread_create(&b, 0, loop, (void *)700);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_create(&a, 0, consumer, 0);
    sleep(2);
    items = 1;
    if (write(ends[1], "x", 1) != 1) abort();
    pthread_join(a, 0);
    return 0;
}
