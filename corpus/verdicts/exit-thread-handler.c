// expect: assertion 6
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static void last(void) {
    assert(0);
}
static void *run(void *unused) {
    exit(0);
}
int main(void) {
    pthread_t t;
    atexit(last);
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    _Exit(0);
}
