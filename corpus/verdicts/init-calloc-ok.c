// expect: safe
#include <stdlib.h>
int main(void) {
    int *p = calloc(1, sizeof *p);
    int r = *p;
    free(p);
    return r;
}
