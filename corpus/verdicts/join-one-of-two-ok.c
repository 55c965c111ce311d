// expect: safe
// Whoever comes first joins the worker; the other does not.
#include <pthread.h>
#include <stdatomic.h>
atomic_flag taken = ATOMIC_FLAG_INIT;
pthread_t worker;
void *work(void *unused) { return 0; }
void *wait(void *unused) {
    if (!atomic_flag_test_and_set(&taken)) pthread_join(worker, 0);
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
