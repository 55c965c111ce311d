// A program that wants to be told of findings, and asks about them. If an answer is wrong, it ends by abort.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void *__tsan_get_current_report(void);
int __tsan_get_report_data(void *, const char **, int *, int *, int *, int *, int *, int *, int *, void **, unsigned long);
int __tsan_get_report_mop(void *, unsigned long, int *, void **, int *, int *, int *, void **, unsigned long);

// Not static: a compiler may leave out stores that nobody else can read.
long data;

void __tsan_on_report(void *report) {
    const char *what;
    int count, stacks, accesses, places, mutexes, threads, unique, thread, size, writes, atomic;
    void *trace[4], *address;
    if (report != __tsan_get_current_report()) abort();
    __tsan_get_report_data(report, &what, &count, &stacks, &accesses, &places, &mutexes, &threads, &unique, trace, 4);
    if (strcmp(what, "data-race") || accesses != 2 || threads != 2 || places != 1) abort();
    for (int i = 0; i < 2; i++) {
        if (!__tsan_get_report_mop(report, i, &thread, &address, &size, &writes, &atomic, trace, 4)) abort();
        if (address != &data || size != sizeof data || !writes || atomic || !trace[0]) abort();
    }
}

static void *work(void *unused) {
    data = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    if (__tsan_get_current_report()) abort();
    pthread_create(&thread, 0, work, 0);
    data = 2;
    pthread_join(thread, 0);
}
