// expect: memory 5
#include <string.h>
int main(void) {
    char b[3];
    strcpy(b, "abc");
    return b[0];
}
