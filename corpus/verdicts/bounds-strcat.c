// expect: memory 5
#include <string.h>
int main(void) {
    char b[4] = "ab";
    strcat(b, "cd");
    return b[0];
}
