/* Two mutexes in two orders. */
#include "common.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *one(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    x++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}
static void *two(void *arg) {
#ifdef BUG_ORDER
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    x++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
#else
    return one(arg);
#endif
    return NULL;
}
int main(void) {
    spawn(one, 0);
    spawn(two, 0);
    join_all();
    return 0;
}
