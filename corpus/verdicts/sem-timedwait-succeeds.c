// expect: assertion 16
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
sem_t s;
static void *run(void *unused) {
    sem_post(&s);
    return 0;
}
int main(void) {
    pthread_t t;
    struct timespec at = {1, 0};
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, run, 0);
    assert(sem_timedwait(&s, &at) == -1);
    pthread_join(t, 0);
    return 0;
}
