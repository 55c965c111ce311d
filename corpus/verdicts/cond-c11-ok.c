// expect: safe
#include <threads.h>
mtx_t m;
cnd_t c;
int ready;
static int run(void *unused) {
    mtx_lock(&m);
    ready = 1;
    cnd_signal(&c);
    mtx_unlock(&m);
    return 0;
}
int main(void) {
    thrd_t t;
    mtx_init(&m, mtx_plain);
    cnd_init(&c);
    thrd_create(&t, run, 0);
    mtx_lock(&m);
    while (!ready) cnd_wait(&c, &m);
    mtx_unlock(&m);
    thrd_join(t, 0);
    cnd_destroy(&c);
    mtx_destroy(&m);
    return 0;
}
