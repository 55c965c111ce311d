// wrong: assertion
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static void *run(void *arg) {
#ifndef WRONG
    exit(0);
#endif
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    assert(!"the process has ended");
    return 0;
}
