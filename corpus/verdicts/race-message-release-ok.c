// expect: safe
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int flag;
static void *run(void *unused) {
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    if (atomic_load_explicit(&flag, memory_order_acquire)) data = 2;
    pthread_join(t, 0);
    return 0;
}
