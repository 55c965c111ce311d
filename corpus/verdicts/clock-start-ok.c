// expect: safe
// Clocks show a moment from which some time can be subtracted; the processor time begins at 0.
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int main(void) {
    struct timespec now, later;
    assert(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && now.tv_sec > 3600 && time(0) > 3600);
    assert(clock() >= 0 && clock() < CLOCKS_PER_SEC);
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += 2;
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&changed, &lock, &now);
    pthread_mutex_unlock(&lock);
    clock_gettime(CLOCK_REALTIME, &later);
    assert(later.tv_sec >= now.tv_sec && later.tv_sec < now.tv_sec + 3600);
}
