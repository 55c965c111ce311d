// expect: trap 9
// options: --overflow
// models: sc
#include <limits.h>
#include <stdatomic.h>
atomic_int x = INT_MAX;
int main(void) {
    int now = atomic_load(&x);
    return now + 1 < now;
}
