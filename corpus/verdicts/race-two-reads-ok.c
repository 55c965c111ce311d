// expect: safe
#include <pthread.h>
int x = 1;
static void *run(void *unused) {
    return (void *)(long)x;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int r = x;
    pthread_join(t, 0);
    return r - 1;
}
