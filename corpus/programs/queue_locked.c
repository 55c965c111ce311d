/* A bounded queue under a mutex with two condition variables. */
#include "common.h"

#ifndef N
#define N 2
#endif
#define SIZE 1
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int items[SIZE], first, count;
static void *producer(void *arg) {
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&mutex);
        while (count == SIZE) pthread_cond_wait(&not_full, &mutex);
        items[(first + count++) % SIZE] = i;
#ifndef BUG_NO_SIGNAL
        pthread_cond_signal(&not_empty);
#endif
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
static void *consumer(void *arg) {
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&mutex);
        while (count == 0) pthread_cond_wait(&not_empty, &mutex);
        assert(items[first] == i);
        first = (first + 1) % SIZE;
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
int main(void) {
    spawn(producer, 0);
    spawn(consumer, 0);
    join_all();
    return 0;
}
