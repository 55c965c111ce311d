// expect: liveness 5
#include <pthread.h>
int lock = 1;
static void *run(void *unused) {
    while (__sync_lock_test_and_set(&lock, 1)) {
    }
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
