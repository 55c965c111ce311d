// The children of a program are not the program: what they do is not counted.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;

static void *work(void *unused) {
    shared++;
    return unused;
}

static void race(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}

static void *parent(void *unused) {
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child < 0) abort();
        if (child == 0) {
            race();
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0) abort();
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, parent, 0);
    pthread_join(thread, 0);
    return 0;
}
