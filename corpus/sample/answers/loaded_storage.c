// thread_local variables of a library that is loaded later: each thread's own, and fresh in each. The file is
// program and library (-DLIBRARY).
#include <stdlib.h>
#ifdef LIBRARY
_Thread_local int count = 5;
_Thread_local char page[5000];
int next(void) {
    page[count]++;
    return ++count;
}
int *place(void) { return &count; }
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int (*next_of_library)(void);
static int *(*place_of_library)(void);

static void load(void) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 4);
    if (length < 0) abort();
    snprintf(path + length, 4, ".so");
    void *library = dlopen(path, RTLD_NOW);
    if (!library) abort();
    next_of_library = (int (*)(void))dlsym(library, "next");
    place_of_library = (int *(*)(void))dlsym(library, "place");
    if (!next_of_library || !place_of_library) abort();
}

static void *work(void *unused) {
    if (next_of_library() != 6 || next_of_library() != 7) abort();
    *place_of_library() += 3;
    if (next_of_library() != 11) abort();
    return unused;
}

static void rounds(void) {
    pthread_t threads[3];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    }
    work(0);
}

static void *work_later(void *unused) { return unused; }

static void *load_there(void *unused) {
    load();
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        puts("before\nmain\nthread");
        return 0;
    }
    pthread_t thread;
    if (argv[1][0] == 'b') load();
    pthread_create(&thread, 0, argv[1][0] == 't' ? load_there : work_later, 0);
    if (argv[1][0] == 'm') load();
    pthread_join(thread, 0);
    rounds();
    return 0;
}
#endif
