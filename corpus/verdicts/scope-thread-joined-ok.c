// expect: safe
#include <pthread.h>
static void *run(void *arg) {
    return (void *)(long)*(int *)arg;
}
static void go(void) {
    pthread_t t;
    int x = 1;
    pthread_create(&t, 0, run, &x);
    pthread_join(t, 0);
}
int main(void) {
    go();
    return 0;
}
