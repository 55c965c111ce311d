// expect: memory 5
#include <stdlib.h>
int main(void) {
    char *p = malloc(4), *q = realloc(p, 8);
    p[0] = 1;
    free(q);
    return 0;
}
