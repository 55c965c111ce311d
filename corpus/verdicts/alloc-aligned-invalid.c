// expect: memory 5
#include <stdlib.h>
int main(void) {
    char *p = aligned_alloc(3, 6);
    p[0] = 1;
    return 0;
}
