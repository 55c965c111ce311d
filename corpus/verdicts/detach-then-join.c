// expect: lock 9
// POSIX: a thread that was detached may not be joined.
#include <pthread.h>
void *run(void *unused) { return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_detach(t);
    pthread_join(t, 0);
    return 0;
}
