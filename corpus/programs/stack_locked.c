/* An array used as a stack, under a mutex. */
#include "common.h"

#ifndef N
#define N 3
#endif
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int items[N], count;
static void *pusher(void *arg) {
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&mutex);
        items[count++] = i;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
static void *popper(void *arg) {
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&mutex);
#ifdef BUG_UNDERFLOW
        count--;
        assert(items[count] >= 0);
#else
        if (count > 0) assert(items[--count] >= 0);
#endif
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
int main(void) {
    spawn(pusher, 0);
    spawn(popper, 0);
    join_all();
    return 0;
}
