// expect: safe
#include <stdlib.h>
int main(void) {
    int *p = malloc(4 * sizeof *p);
    if (!p)
        return 0;
    for (int *q = p; q < p + 4; q++)
        *q = 1;
    int n = p[3];
    free(p);
    return n - 1;
}
