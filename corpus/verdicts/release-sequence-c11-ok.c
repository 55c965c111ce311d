// expect: safe
// models: rc11
// C11: a later store of the same thread continues a release sequence.
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int flag;
static void *reader(void *unused) {
    if (atomic_load_explicit(&flag, memory_order_acquire) == 2) {
        int r = data;
        (void)r;
    }
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    pthread_join(t, 0);
    return 0;
}
