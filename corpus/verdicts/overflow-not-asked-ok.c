// expect: safe
// models: sc
// Overflow is looked for only if asked for: it wraps otherwise.
#include <limits.h>
#include <stdatomic.h>
atomic_int x = INT_MAX;
int main(void) {
    int now = atomic_load(&x);
    return now + 1 < now;
}
