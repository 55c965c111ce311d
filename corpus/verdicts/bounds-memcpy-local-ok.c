// expect: safe
#include <string.h>
int main(void) {
    char b[6];
    memcpy(b, "hello", 6);
    return b[5];
}
