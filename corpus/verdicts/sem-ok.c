// expect: safe
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int x;
static void *run(void *unused) {
    x = 1;
    sem_post(&s);
    return 0;
}
int main(void) {
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, run, 0);
    sem_wait(&s);
    int r = x;
    pthread_join(t, 0);
    sem_destroy(&s);
    return r - 1;
}
