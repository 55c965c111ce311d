// expect: safe
// The built-in function is not asked about 0.
#include <pthread.h>
#include <stdatomic.h>
atomic_uint bits = 4;
void *run(void *unused) { return (void *)(long)atomic_exchange(&bits, 0); }
int lowest(void) {
    unsigned now = atomic_load(&bits);
    return now ? __builtin_ctz(now) + __builtin_clz(now) - 29 : 2;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int n = lowest();
    pthread_join(t, 0);
    return n == 2 ? 0 : 1;
}
