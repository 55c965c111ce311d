// expect: assertion 14
// models: rc11 sc
// options: --check assertion
// A program that creates threads for ever. Two of them are enough.
#include <assert.h>
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int entered;
void *run(void *unused) {
    int before = entered;
    pthread_mutex_lock(&lock);
    entered = before + 1;
    pthread_mutex_unlock(&lock);
    assert(entered < 2);
    return 0;
}
int main(void) {
    for (;;) {
        pthread_t t;
        pthread_create(&t, 0, run, 0);
    }
}
