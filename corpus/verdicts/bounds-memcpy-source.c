// expect: memory 5
#include <string.h>
int main(void) {
    char a[2] = {1, 2}, b[4];
    memcpy(b, a, 4);
    return b[0];
}
