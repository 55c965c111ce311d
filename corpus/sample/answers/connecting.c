// More clients than the queue of a server takes: they wait in connect until it accepts.
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 4 };
static struct sockaddr_un address;
static socklen_t length = sizeof address;

static void *client(void *unused) {
    char byte = 1;
    int end = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(end, (struct sockaddr *)&address, length) || write(end, &byte, 1) != 1) _exit(1);
    close(end);
    return unused;
}

int main(void) {
    pthread_t threads[CLIENTS];
    char byte;
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    address.sun_family = AF_UNIX;
    // The kernel finds a name.
    if (bind(server, (struct sockaddr *)&address, sizeof address.sun_family) || listen(server, 0)) return 2;
    if (getsockname(server, (struct sockaddr *)&address, &length)) return 3;
    for (int i = 0; i < CLIENTS; i++) pthread_create(&threads[i], 0, client, 0);
    for (int i = 0; i < CLIENTS; i++) {
        int end = accept(server, 0, 0);
        if (end < 0 || read(end, &byte, 1) != 1) return 4;
        close(end);
    }
    for (int i = 0; i < CLIENTS; i++) pthread_join(threads[i], 0);
    return 0;
}
