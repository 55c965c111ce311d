// A stress test: threads work on shared memory until a thread that slept for five seconds stops them.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int stop, count;

static void *work(void *unused) {
    while (!atomic_load(&stop)) atomic_fetch_add(&count, 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    sleep(5);
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
