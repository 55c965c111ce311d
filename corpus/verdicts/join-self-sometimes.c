// expect: deadlock 9
// expect: deadlock 16
// POSIX leaves open what happens when a thread joins itself: it waits for its own end.
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
void *run(void *unused) {
    if (atomic_load(&flag))
        pthread_join(pthread_self(), 0);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    atomic_store(&flag, 1);
    pthread_join(t, 0);
    return 0;
}
