// expect: safe
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
volatile int side = 1;
static void *run(void *unused) {
    atomic_store(&flag, 1);
    return 0;
}
int main(void) {
    pthread_t t;
    int n = 0;
    pthread_create(&t, 0, run, 0);
    if (side) goto middle;
head:
    n++;
middle:
    if (!atomic_load(&flag) && n < 3) goto head;
    pthread_join(t, 0);
    return 0;
}
