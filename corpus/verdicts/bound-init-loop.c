// expect: assertion 17
// options: --unroll 3
// The assertion stands behind a loop of eight iterations.
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
    assert(a[7] == 7);
    return 0;
}
