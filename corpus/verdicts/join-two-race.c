// expect: lock 8
// Both threads join the worker: one of them is the second.
#include <pthread.h>
#include <stdatomic.h>
pthread_t worker;
void *work(void *unused) { return 0; }
void *wait(void *unused) {
    pthread_join(worker, 0);
    return 0;
}
int main(void) {
    pthread_t waiter;
    pthread_create(&worker, 0, work, 0);
    pthread_create(&waiter, 0, wait, 0);
    wait(0);
    pthread_join(waiter, 0);
    return 0;
}
