// expect: safe
#include <string.h>
int main(void) {
    char b[5] = "ab";
    strcat(b, "cd");
    return b[4];
}
