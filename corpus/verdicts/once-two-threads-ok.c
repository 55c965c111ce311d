// expect: safe
#include <assert.h>
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int n;
static void begin(void) { n++; }
static void *run(void *unused) {
    pthread_once(&once, begin);
    assert(n == 1);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    run(0);
    pthread_join(t, 0);
    return 0;
}
