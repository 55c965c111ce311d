// expect: safe
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t filled;
static int items[2];
static void *put(void *unused) {
    for (int i = 0; i < 2; i++) {
        items[i] = i + 1;
        sem_post(&filled);
    }
    return unused;
}
int main(void) {
    sem_init(&filled, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, put, 0);
    for (int i = 0; i < 2; i++) {
        sem_wait(&filled);
        assert(items[i] == i + 1);
    }
    pthread_join(t, 0);
    return 0;
}
