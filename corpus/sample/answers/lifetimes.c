// Synchronisation objects that come and go as they may: no finding.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct box {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    sem_t taken;
    pthread_barrier_t together;
    pthread_rwlock_t reading;
    int full;
};

static void *fill(void *argument) {
    struct box *box = argument;
    pthread_rwlock_rdlock(&box->reading);
    pthread_rwlock_unlock(&box->reading);
    pthread_barrier_wait(&box->together);
    pthread_mutex_lock(&box->lock);
    box->full = 1;
    pthread_cond_signal(&box->filled);
    pthread_mutex_unlock(&box->lock);
    sem_post(&box->taken);
    return 0;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        struct box *box = calloc(1, sizeof *box);
        pthread_mutex_init(&box->lock, 0);
        pthread_cond_init(&box->filled, 0);
        sem_init(&box->taken, 0, 0);
        pthread_barrier_init(&box->together, 0, 2);
        pthread_rwlock_init(&box->reading, 0);
        pthread_t thread;
        pthread_create(&thread, 0, fill, box);
        pthread_barrier_wait(&box->together);
        pthread_mutex_lock(&box->lock);
        while (!box->full) pthread_cond_wait(&box->filled, &box->lock);
        pthread_mutex_unlock(&box->lock);
        sem_wait(&box->taken);
        pthread_rwlock_wrlock(&box->reading);
        pthread_rwlock_unlock(&box->reading);
        pthread_mutex_destroy(&box->lock);
        pthread_cond_destroy(&box->filled);
        sem_destroy(&box->taken);
        pthread_barrier_destroy(&box->together);
        pthread_rwlock_destroy(&box->reading);
        free(box);
        pthread_join(thread, 0);
    }
    return 0;
}
