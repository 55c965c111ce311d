/* pthread_once, barriers, semaphores and thread-specific data together. */
#include "common.h"

#include <semaphore.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t sem;
static _Thread_local int mine;
static int made, guarded;
static void make(void) { made++; }
static void *run(void *arg) {
    pthread_once(&once, make);
    assert(made == 1);
    mine = (int)(long)arg;
    pthread_barrier_wait(&barrier);
    assert(mine == (int)(long)arg);
    sem_wait(&sem);
    guarded++;
    sem_post(&sem);
    return (void *)(long)(mine + 10);
}
int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&sem, 0, 1);
    pthread_t a, b;
    pthread_create(&a, NULL, run, (void *)1);
    pthread_create(&b, NULL, run, (void *)2);
    void *r, *s;
    pthread_join(a, &r);
    pthread_join(b, &s);
    assert((long)r == 11 && (long)s == 12 && guarded == 2);
    return 0;
}
