// expect: lock 9
// POSIX: the identifier of a thread that was joined may not be used again.
#include <pthread.h>
void *run(void *unused) { return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    pthread_join(t, 0);
    return 0;
}
