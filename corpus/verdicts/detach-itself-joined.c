// expect: lock 6
// expect: lock 12
// The thread detaches itself, at the same time as another one joins it.
#include <pthread.h>
void *run(void *unused) {
    pthread_detach(pthread_self());
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
