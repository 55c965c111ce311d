// One thread polls a flag that another sets after a second: time passes, and the program ends.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int stop;

static void *poll_flag(void *unused) {
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {}
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, poll_flag, 0);
    sleep(1);
    atomic_store_explicit(&stop, 1, memory_order_relaxed);
    return pthread_join(thread, 0);
}
