/* C11 threads: mutex, condition variable, results. */
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t cond;
static int ready;
static int waiter(void *arg) {
    mtx_lock(&mutex);
    while (!ready) cnd_wait(&cond, &mutex);
    mtx_unlock(&mutex);
    return 7;
}
static int setter(void *arg) {
    mtx_lock(&mutex);
    ready = 1;
#ifndef BUG_NO_SIGNAL
    cnd_signal(&cond);
#endif
    mtx_unlock(&mutex);
    return 8;
}
int main(void) {
    mtx_init(&mutex, mtx_plain);
    cnd_init(&cond);
    thrd_t a, b;
    int r = 0, s = 0;
    thrd_create(&a, waiter, 0);
    thrd_create(&b, setter, 0);
    thrd_join(a, &r);
    thrd_join(b, &s);
    assert(r == 7 && s == 8);
    return 0;
}
