/* A thread parks until another unparks it. */
#include "common.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_int permit;
static int data;
static void park(void) {
    if (exchange(&permit, 0, acq)) return;
    pthread_mutex_lock(&mutex);
#ifdef BUG_NO_RECHECK
    do pthread_cond_wait(&cond, &mutex); while (!exchange(&permit, 0, acq));
#else
    while (!exchange(&permit, 0, acq)) pthread_cond_wait(&cond, &mutex);
#endif
    pthread_mutex_unlock(&mutex);
}
static void unpark(void) {
    store(&permit, 1, rel);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}
static void *sleeper(void *arg) { park(); assert(data == 1); return NULL; }
static void *waker(void *arg) { data = 1; unpark(); return NULL; }
int main(void) {
    spawn(sleeper, 0);
    spawn(waker, 0);
    join_all();
    return 0;
}
