// expect: safe
#include <errno.h>
#include <stdlib.h>
int main(void) {
    void *p;
    return posix_memalign(&p, 3, 8) != EINVAL;
}
