// expect: safe
#include <stdlib.h>
int main(void) {
    char *p = malloc(4);
    p[3] = 7;
    p = realloc(p, 8);
    p[7] = p[3];
    int r = p[7] - 7;
    free(p);
    return r;
}
