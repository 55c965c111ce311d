// expect: safe
#include <stdlib.h>
int main(void) {
    void *p;
    if (posix_memalign(&p, 16, 8)) return 0;
    *(char *)p = 1;
    free(p);
    return 0;
}
