// A thread that does nothing but store, for ever, lets others run: the program ends.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int value;

static void *store_for_ever(void *unused) {
    for (;;) atomic_store_explicit(&value, 1, memory_order_relaxed);
    return unused;
}

static void *look(void *unused) {
    while (atomic_load_explicit(&value, memory_order_relaxed) == 0) {}
    return unused;
}

int main(void) {
    pthread_t storing, looking;
    pthread_create(&storing, 0, store_for_ever, 0);
    pthread_detach(storing);
    pthread_create(&looking, 0, look, 0);
    return pthread_join(looking, 0);
}
