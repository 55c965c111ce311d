// expect: safe
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t ping, pong;
static int n;
static void *answer(void *unused) {
    sem_wait(&ping);
    n = n * 2;
    sem_post(&pong);
    return unused;
}
int main(void) {
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, answer, 0);
    n = 4;
    sem_post(&ping);
    sem_wait(&pong);
    assert(n == 8);
    pthread_join(t, 0);
    return 0;
}
