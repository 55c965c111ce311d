// expect: lock 7
#include <threads.h>
mtx_t m;
int main(void) {
    mtx_init(&m, mtx_plain);
    mtx_destroy(&m);
    mtx_lock(&m);
    return 0;
}
