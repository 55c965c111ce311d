// expect: lock 7
#include <pthread.h>
pthread_spinlock_t s;
int main(void) {
    pthread_spin_init(&s, 0);
    pthread_spin_destroy(&s);
    pthread_spin_lock(&s);
    return 0;
}
