// expect: safe
// Any thread may join another one, once.
#include <assert.h>
#include <pthread.h>
int x;
pthread_t worker;
void *work(void *unused) { x = 1; return 0; }
void *wait(void *unused) {
    pthread_join(worker, 0);
    assert(x == 1);
    return 0;
}
int main(void) {
    pthread_t waiter;
    pthread_create(&worker, 0, work, 0);
    pthread_create(&waiter, 0, wait, 0);
    pthread_join(waiter, 0);
    return x - 1;
}
