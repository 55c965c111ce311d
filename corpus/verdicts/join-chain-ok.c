// expect: safe
// Each thread joins the one that was created before it.
#include <assert.h>
#include <pthread.h>
int order;
pthread_t threads[3];
void *run(void *number) {
    long me = (long)number;
    if (me > 0) pthread_join(threads[me - 1], 0);
    assert(order++ == me);
    return 0;
}
int main(void) {
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, run, (void *)i);
    pthread_join(threads[2], 0);
    return 0;
}
