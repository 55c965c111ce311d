// expect: safe
#include <stdio.h>
int main(void) {
    char b[4];
    snprintf(b, sizeof b, "%d", 123456);
    return b[3];
}
