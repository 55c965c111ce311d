// One thread closes a descriptor that another uses or replaces. With RIGHT defined, something orders them.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fd, ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
#ifdef RIGHT
    pthread_mutex_lock(&mutex);
#endif
}

static void leave(void) {
#ifdef RIGHT
    pthread_mutex_unlock(&mutex);
#endif
}

static void *closes(void *unused) {
    enter();
    close(fd);
    leave();
    return unused;
}

static void *replaces(void *unused) {
    enter();
    dup2(ends[0], fd);
    leave();
    return unused;
}

static void *closes_stream(void *stream) {
    enter();
    fclose(stream);
    leave();
    return 0;
}

// Descriptors of its own: the kernel gives out the same numbers again.
static void *own(void *unused) {
    for (int i = 0; i < 3; i++) {
        int mine[2];
        char byte = 0;
        if (pipe(mine) || write(mine[1], &byte, 1) != 1 || read(mine[0], &byte, 1) != 1) return unused;
        close(mine[0]);
        close(mine[1]);
        int file = open("/dev/null", O_RDONLY), copy = dup(file), third = fcntl(file, F_DUPFD, 0);
        if (read(copy, &byte, 1)) return unused;
        close(file);
        close(copy);
        close(third);
    }
    return unused;
}

int main(int argc, char **argv) {
    static const char *const cases[] = {"close", "dup2", "fclose"};
    if (argc < 2) {
        for (int i = 0; i < 3; i++) puts(cases[i]);
#ifdef RIGHT
        puts("own");
#endif
        return 0;
    }
    char byte;
    pthread_t thread;
    fd = open("/dev/null", O_RDONLY);
    if (fd < 0 || pipe(ends)) return 1;
    if (!strcmp(argv[1], "own")) {
        pthread_create(&thread, 0, own, 0);
        own(0);
        pthread_join(thread, 0);
        return 0;
    }
    void *stream = !strcmp(argv[1], "fclose") ? fdopen(fd, "r") : 0;
    void *(*other)(void *) = stream ? closes_stream : !strcmp(argv[1], "dup2") ? replaces : closes;
    pthread_create(&thread, 0, other, stream);
    enter();
    if (!strcmp(argv[1], "dup2")) close(fd);
    else if (fcntl(fd, F_GETFD) >= 0 && read(fd, &byte, 1) > 0) return 1;
    leave();
    pthread_join(thread, 0);
    return 0;
}
