// expect: safe
#include <pthread.h>
#include <stdatomic.h>
atomic_int l;
int x;
static void *run(void *unused) {
    int free = 0;
    while (!atomic_compare_exchange_strong(&l, &free, 1)) free = 0;
    x++;
    atomic_store(&l, 0);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    return x - 2;
}
