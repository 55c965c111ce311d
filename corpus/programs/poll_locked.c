/* A thread looks under a mutex, again and again, whether all others have left their results. */
#include "common.h"

#ifndef N
#define N 3
#endif
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int results[N];
static void *worker(void *arg) {
    pthread_mutex_lock(&mutex);
    results[(long)arg] = 1;
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static int is_complete(void) {
    int complete = 1;
#ifndef BUG_NO_LOCK
    pthread_mutex_lock(&mutex);
#endif
    for (int i = 0; i < N; i++) complete &= results[i];
#ifndef BUG_NO_LOCK
    pthread_mutex_unlock(&mutex);
#endif
    return complete;
}
static void *poll(void *arg) {
    while (!is_complete()) {}
    for (int i = 0; i < N; i++) assert(results[i] == 1);
    return NULL;
}
int main(void) {
    spawn(poll, 0);
    for (int i = 0; i < N; i++) spawn(worker, i);
    join_all();
    return 0;
}
