// expect: safe
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
static void *run(void *unused) {
    while (!atomic_load(&flag)) {
    }
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    return 0;
}
