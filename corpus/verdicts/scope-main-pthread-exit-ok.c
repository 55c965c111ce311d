// expect: safe
#include <pthread.h>
static int x;
static void *run(void *arg) {
    *(int *)arg = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, &x);
    pthread_exit(0);
}
