// Handlers that change what the interrupted code relies on: errno, the heap. With RIGHT defined, they do not, or cannot
// interrupt anything that relies on it.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t main_thread;
static atomic_int done;
static void *volatile block;
static sigjmp_buf back;

static void spoils(int signal) {
#ifdef RIGHT
    int before = errno;
    errno = signal;
    errno = before;
#else
    errno = signal;
#endif
    done = 1;
}

static void allocates(int signal) {
#ifndef RIGHT
    block = malloc(8);
#endif
    done = 1;
}

static void raised(int signal) {
    block = malloc(signal);
    errno = signal;
    done = 1;
}

static void jumps(int signal) {
    done = 1;
    siglongjmp(back, signal);
}

static void *sends(void *unused) {
    pthread_kill(main_thread, SIGUSR1);
    return unused;
}

static void *waits(void *unused) {
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        puts("errno\nmalloc");
#ifdef RIGHT
        puts("raise\njump");
#endif
        return 0;
    }
    int raises = !strcmp(argv[1], "raise"), leaps = !strcmp(argv[1], "jump");
    signal(SIGUSR1, raises ? raised : leaps ? jumps : strcmp(argv[1], "errno") ? allocates : spoils);
    main_thread = pthread_self();
    pthread_t thread;
    if (!sigsetjmp(back, 1)) {
        pthread_create(&thread, 0, raises ? waits : sends, 0);
        if (raises) raise(SIGUSR1);
        while (!done) sched_yield();
    }
    free(malloc(4));
    pthread_join(thread, 0);
    return 0;
}
