// expect: safe
#include <string.h>
int main(void) {
    char b[4];
    strcpy(b, "abc");
    return b[3];
}
