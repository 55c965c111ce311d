// expect: memory 13
#include <pthread.h>
int *q;
static void *run(void *unused) {
    int x = 1;
    q = &x;
    pthread_exit(0);
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return *q;
}
