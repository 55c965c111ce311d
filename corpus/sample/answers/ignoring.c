// Stretches whose accesses are not to be checked: also if they began before there were threads, and a mistake if a thread
// ends in one.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);

int data, other;

static void begin(void) { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
static void end(void) { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }

static void *write_data(void *unused) {
    data = 1;
    return unused;
}

static void *ignored(void *unused) {
    begin();
    other = 1;
#ifdef RIGHT
    end();
#endif
    return unused;
}

static int run(void *work(void *)) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    data = 2;
    return pthread_join(thread, 0);
}

int main(int count, char **words) {
    if (count < 2) {
        puts("thread");
        puts("main");
        return 0;
    }
    if (!strcmp(words[1], "thread")) return run(ignored);
    begin();
    begin();
    int failed = run(write_data);
    end();
#ifdef RIGHT
    end();
#endif
    return failed;
}
