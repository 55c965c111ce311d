// expect: safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
pthread_spinlock_t s;
int main(void) {
    pthread_spin_init(&s, 0);
    assert(pthread_spin_trylock(&s) == 0);
    assert(pthread_spin_trylock(&s) == EBUSY);
    return pthread_spin_unlock(&s);
}
