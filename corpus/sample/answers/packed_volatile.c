// A volatile member of a packed structure is as volatile as any other.
#include <pthread.h>

struct __attribute__((packed)) header {
    char kind;
    volatile int version;
};

static struct header header;

static void *writer(void *unused) {
    header.version = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (header.version != 1) {}
    return pthread_join(thread, 0);
}
