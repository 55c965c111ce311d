// expect: memory 5
#include <stdlib.h>
int main(void) {
    char *p = malloc(6);
    *(int *)(p + 4) = 0;
    free(p);
    return 0;
}
