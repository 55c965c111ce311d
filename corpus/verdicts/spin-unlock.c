// expect: lock 6
#include <pthread.h>
pthread_spinlock_t s;
int main(void) {
    pthread_spin_init(&s, 0);
    pthread_spin_unlock(&s);
    return 0;
}
