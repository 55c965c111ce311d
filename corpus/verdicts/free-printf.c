// expect: memory 7
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *p = calloc(4, 1);
    free(p);
    printf("%d %s\n", 1, p);
    return 0;
}
