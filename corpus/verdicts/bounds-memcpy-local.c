// expect: memory 5
#include <string.h>
int main(void) {
    char b[4];
    memcpy(b, "hello", 6);
    return b[0];
}
