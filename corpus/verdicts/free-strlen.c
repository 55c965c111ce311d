// expect: memory 7
#include <stdlib.h>
#include <string.h>
int main(void) {
    char *p = calloc(4, 1);
    free(p);
    return strlen(p);
}
