// expect: memory 4
#include <pthread.h>
static void *run(void *arg) {
    return (void *)(long)*(int *)arg;
}
static pthread_t start(void) {
    pthread_t t;
    int x = 1;
    pthread_create(&t, 0, run, &x);
    return t;
}
int main(void) {
    pthread_join(start(), 0);
    return 0;
}
