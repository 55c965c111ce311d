// expect: memory 17
#include <pthread.h>
int *q;
static void leave(int *p) {
    q = p;
    pthread_exit(0);
}
static void *run(void *unused) {
    int x = 1;
    leave(&x);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return *q;
}
