// expect: safe
#include <string.h>
int main(void) {
    char b[6] = "abcd";
    memmove(b + 1, b, 4);
    return b[4] - 'd';
}
