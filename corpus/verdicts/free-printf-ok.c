// expect: safe
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *p = calloc(4, 1);
    printf("%d %-4s|%%\n", 1, p);
    free(p);
    return 0;
}
