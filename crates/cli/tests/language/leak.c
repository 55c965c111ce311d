// wrong: memory
#include <stdlib.h>
int main(void) {
    char *p = malloc(4);
    p[0] = 1;
#ifndef WRONG
    free(p);
#endif
    return 0;
}
