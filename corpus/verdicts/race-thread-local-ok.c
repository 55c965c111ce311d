// expect: safe
#include <pthread.h>
_Thread_local int x;
static void *run(void *unused) {
    x++;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    return x - 1;
}
