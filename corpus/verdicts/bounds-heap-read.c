// expect: memory 5
#include <stdlib.h>
int main(void) {
    int *p = calloc(2, sizeof(int));
    int r = p[2];
    free(p);
    return r;
}
