// Passing a message through a flag. The flag is published with memory_order_relaxed: nothing orders it
// after the message, and the reader may see the flag without the message.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int message, flag;

static void *writer(void *arg) {
    (void)arg;
    atomic_store_explicit(&message, 42, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed); // should be memory_order_release
    return NULL;
}

static void *reader(void *arg) {
    (void)arg;
    if (atomic_load_explicit(&flag, memory_order_acquire))
        assert(atomic_load_explicit(&message, memory_order_relaxed) == 42);
    return NULL;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    return 0;
}
