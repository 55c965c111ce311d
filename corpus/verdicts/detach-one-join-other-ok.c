// expect: safe
// One thread is detached, the other one joined.
#include <pthread.h>
#include <stdatomic.h>
atomic_int done;
void *run(void *unused) {
    atomic_fetch_add(&done, 1);
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, run, 0);
    pthread_create(&u, 0, run, 0);
    pthread_detach(t);
    pthread_join(u, 0);
    return done == 0;
}
