// expect: memory 5
#include <stdlib.h>
int main(void) {
    int *p = malloc(sizeof *p);
    int r = *p + 1;
    free(p);
    return r;
}
