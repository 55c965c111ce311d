// expect: safe
#include <pthread.h>
int x;
static void *run(void *unused) {
    x = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    x = 2;
    return 0;
}
