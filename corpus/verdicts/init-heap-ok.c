// expect: safe
#include <stdlib.h>
int main(void) {
    int *p = malloc(sizeof *p);
    *p = 0;
    int r = *p;
    free(p);
    return r;
}
