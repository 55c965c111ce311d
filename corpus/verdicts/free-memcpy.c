// expect: memory 7
#include <stdlib.h>
#include <string.h>
int main(void) {
    char *p = calloc(4, 1), b[4];
    free(p);
    memcpy(b, p, 4);
    return b[0];
}
