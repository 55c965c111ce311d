// A thread that does nothing but allocate, or nothing but map memory, does not keep others from going on.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((no_sanitize("thread"))) static void *allocates(void *unused) {
    for (;;) {
        void *volatile block = malloc(10);
        free(block);
    }
    return unused;
}

__attribute__((no_sanitize("thread"))) static void *maps(void *place) {
    for (;;) mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return place;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        puts("allocates\nmaps");
        return 0;
    }
    void *place = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    pthread_create(&thread, 0, strcmp(argv[1], "maps") ? allocates : maps, place);
    pthread_detach(thread);
    usleep(10);
    return 0;
}
