// expect: safe
#include <pthread.h>
int x;
static void *run(void *unused) {
    return (void *)(long)x;
}
int main(void) {
    pthread_t t;
    x = 2;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
