// expect: memory 6
#include <string.h>
volatile unsigned long size = 9;
int main(void) {
    char b[8];
    memset(b, 0, size);
    return b[0];
}
