// expect: safe
#include <stdio.h>
int main(void) {
    char b[5];
    sprintf(b, "%d", 1234);
    return b[4];
}
