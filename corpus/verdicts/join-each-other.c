// expect: deadlock 6
// expect: deadlock 12
// POSIX: a thread that waits for one that waits for it never goes on.
#include <pthread.h>
pthread_t first;
void *run(void *unused) { pthread_join(first, 0); return 0; }

int main(void) {
    first = pthread_self();
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
