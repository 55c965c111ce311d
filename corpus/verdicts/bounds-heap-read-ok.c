// expect: safe
#include <stdlib.h>
int main(void) {
    int *p = calloc(2, sizeof(int));
    int r = p[1];
    free(p);
    return r;
}
