// expect: assertion 6
#include <assert.h>
#include <pthread.h>
pthread_key_t k;
static void end(void *p) {
    assert(p == 0);
}
static void *run(void *unused) {
    pthread_setspecific(k, (void *)2);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_key_create(&k, end);
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return 0;
}
