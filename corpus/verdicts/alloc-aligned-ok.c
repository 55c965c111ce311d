// expect: safe
#include <stdint.h>
#include <stdlib.h>
int main(void) {
    char *p = aligned_alloc(64, 128);
    int r = (uintptr_t)p % 64;
    p[127] = 1;
    free(p);
    return r;
}
