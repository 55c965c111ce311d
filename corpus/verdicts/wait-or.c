// expect: liveness 7
#include <pthread.h>
#include <stdatomic.h>
atomic_int bits = 4;
static void *run(void *unused) {
    // The bit is set from the start, and stays.
    while (atomic_fetch_or(&bits, 4) & 4) {
    }
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
