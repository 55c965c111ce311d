// expect: memory 7
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *p = calloc(4, 1);
    free(p);
    puts(p);
    return 0;
}
