// A thread that ends before the program does, and that nobody joins or detaches. With RIGHT defined, somebody does, or
// the thread does not end.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *ends(void *unused) {
    return unused;
}

static void *stays(void *unused) {
    for (;;) pause();
    return unused;
}

static void *detaches(void *unused) {
    pthread_detach(pthread_self());
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
#ifdef RIGHT
    if (argc < 2) {
        puts("join\ndetach\nstay\nattribute");
        return 0;
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (!strcmp(argv[1], "attribute")) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int leaves = !strcmp(argv[1], "detach"), stay = !strcmp(argv[1], "stay");
    pthread_create(&thread, &attributes, leaves ? detaches : stay ? stays : ends, 0);
    if (!strcmp(argv[1], "join")) pthread_join(thread, 0);
#else
    pthread_create(&thread, 0, ends, 0);
#endif
    usleep(1000);
    return 0;
}
