// expect: memory 7
#include <stdint.h>
#include <stdlib.h>
volatile size_t n = SIZE_MAX / 2;
int main(void) {
    int *p = calloc(n, 4);
    return p[0];
}
