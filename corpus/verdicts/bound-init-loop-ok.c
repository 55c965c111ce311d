// expect: safe
// options: --unroll 3
// A loop that other threads have no part in does not count against the bound.
#include <assert.h>
#include <pthread.h>
int a[8];
static void *run(void *unused) {
    a[7]++;
    return unused;
}
int main(void) {
    for (int i = 0; i < 8; i++)
        a[i] = i;
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    assert(a[7] == 8);
    return 0;
}
