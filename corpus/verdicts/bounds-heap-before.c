// expect: memory 5
#include <stdlib.h>
int main(void) {
    char *p = malloc(3);
    p[-1] = 0;
    free(p);
    return 0;
}
