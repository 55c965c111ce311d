// expect: safe
#include <stdint.h>
#include <stdlib.h>
volatile size_t n = SIZE_MAX / 2;
int main(void) {
    return calloc(n, 4) != 0;
}
