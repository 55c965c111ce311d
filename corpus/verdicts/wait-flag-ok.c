// expect: safe
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
static void *run(void *unused) {
    atomic_store(&flag, 1);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    while (!atomic_load(&flag)) {
    }
    pthread_join(t, 0);
    return 0;
}
