// expect: safe
#include <pthread.h>
pthread_once_t o = PTHREAD_ONCE_INIT;
int x;
static void init(void) { x++; }
static void *run(void *unused) {
    pthread_once(&o, init);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    return x - 1;
}
