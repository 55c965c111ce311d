// wrong: memory
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
static size_t choose(void) { return 32; }
int main(void) {
    void *p;
    assert(posix_memalign(&p, 64, 100) == 0 && (uintptr_t)p % 64 == 0);
    char *q = aligned_alloc(128, 128), *r = aligned_alloc(choose(), 64);
    assert((uintptr_t)q % 128 == 0 && (uintptr_t)r % 32 == 0);
    q[127] = 1;
#ifdef WRONG
    r[64] = 1;
#endif
    free(p), free(q), free(r);
    return 0;
}
