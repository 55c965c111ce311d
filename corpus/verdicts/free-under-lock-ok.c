// expect: safe
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *shared;
static void *take(void *unused) {
    pthread_mutex_lock(&m);
    int *p = shared;
    shared = 0;
    pthread_mutex_unlock(&m);
    free(p);
    return unused;
}
int main(void) {
    shared = malloc(sizeof *shared);
    pthread_t t;
    pthread_create(&t, 0, take, 0);
    take(0);
    pthread_join(t, 0);
    return 0;
}
