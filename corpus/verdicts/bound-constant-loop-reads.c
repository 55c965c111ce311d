// expect: assertion 13
// options: --unroll 3
// The loop reads shared memory, but how often it runs is a constant: the bound does not cut it off.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x[8];
static void *run(void *unused) {
    atomic_store(&x[7], 1);
    return unused;
}
static void count(int sum) {
    assert(sum == 0);
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += atomic_load(&x[i]);
    count(sum);
    pthread_join(t, 0);
    return 0;
}
