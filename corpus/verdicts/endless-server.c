// expect: assertion 22
// models: rc11 sc
// options: --check assertion
// Both threads serve for ever. The second request of one client comes before the answer to the first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int request, answer;
void *serve(void *unused) {
    for (;;) {
        int r = atomic_load(&request);
        atomic_store(&answer, r);
    }
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, serve, 0);
    int last = 0;
    for (int n = 1;; n++) {
        atomic_store(&request, n);
        int got = atomic_load(&answer);
        assert(got < 2);
        last = got;
    }
}
