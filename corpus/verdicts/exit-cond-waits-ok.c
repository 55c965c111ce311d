// expect: safe
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void *run(void *unused) {
    pthread_mutex_lock(&m);
    for (;;) pthread_cond_wait(&c, &m);
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    exit(0);
}
