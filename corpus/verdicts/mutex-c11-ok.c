// expect: safe
#include <threads.h>
mtx_t m;
int x;
static int run(void *unused) {
    mtx_lock(&m);
    x++;
    mtx_unlock(&m);
    return 0;
}
int main(void) {
    thrd_t t;
    mtx_init(&m, mtx_plain);
    thrd_create(&t, run, 0);
    run(0);
    thrd_join(t, 0);
    mtx_destroy(&m);
    return x - 2;
}
