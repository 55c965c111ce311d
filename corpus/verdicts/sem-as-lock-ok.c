// expect: safe
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static int n;
static void *add(void *unused) {
    sem_wait(&s);
    n++;
    sem_post(&s);
    return unused;
}
int main(void) {
    sem_init(&s, 0, 1);
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    assert(n == 2);
    return 0;
}
