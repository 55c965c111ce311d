// expect: trap 8
// options: --overflow
// models: sc
#include <stdatomic.h>
atomic_int x = 65536;
int main(void) {
    int now = atomic_load(&x);
    return now * now == 0;
}
