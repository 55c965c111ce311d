// expect: safe
#include <assert.h>
#include <threads.h>
int main(void) {
    mtx_t m;
    mtx_init(&m, mtx_plain);
    assert(mtx_trylock(&m) == thrd_success);
    assert(mtx_trylock(&m) == thrd_busy);
    mtx_unlock(&m);
    mtx_destroy(&m);
    return 0;
}
