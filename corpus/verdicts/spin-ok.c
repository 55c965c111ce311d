// expect: safe
#include <pthread.h>
pthread_spinlock_t s;
int x;
static void *run(void *unused) {
    pthread_spin_lock(&s);
    x++;
    pthread_spin_unlock(&s);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_spin_init(&s, 0);
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    pthread_spin_destroy(&s);
    return x - 2;
}
