// A handler orders others, although it interrupts a stretch in which the thread's own atomics are to order nothing.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);

static atomic_int inside, ready, done;
int data;

static void handler(int signal) {
    data = 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
}

static void *ignoring(void *unused) {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    atomic_store_explicit(&inside, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {}
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    return unused;
}

int main(void) {
    signal(SIGUSR1, handler);
    pthread_t thread;
    pthread_create(&thread, 0, ignoring, 0);
    while (!atomic_load_explicit(&inside, memory_order_relaxed)) {}
    pthread_kill(thread, SIGUSR1);
    while (!atomic_load_explicit(&ready, memory_order_acquire)) {}
    int seen = data;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    pthread_join(thread, 0);
    return seen != 1;
}
