// expect: safe
#include <stdlib.h>
int main(void) {
    char *p = malloc(2);
    p[1] = 0;
    char *q = realloc(p, -2);
    int r = q ? 1 : p[1];
    free(p);
    return r;
}
