// expect: safe
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *p = calloc(4, 1);
    puts(p);
    free(p);
    return 0;
}
