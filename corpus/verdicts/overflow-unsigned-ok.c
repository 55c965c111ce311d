// expect: safe
// options: --overflow
// models: sc
// Unsigned numbers wrap, and so do atomic operations on signed ones (C17 7.17.7.5).
#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
atomic_uint x = UINT_MAX;
atomic_int y = INT_MAX;
int main(void) {
    unsigned now = atomic_load(&x);
    assert(now + 1 == 0);
    atomic_fetch_add(&y, 1);
    assert(atomic_load(&y) == INT_MIN);
    return 0;
}
