// expect: memory 6
#include <stdlib.h>
int main(void) {
    char *p = malloc(8);
    p = realloc(p, 4);
    p[4] = 0;
    free(p);
    return 0;
}
