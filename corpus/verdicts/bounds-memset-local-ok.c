// expect: safe
#include <string.h>
int main(void) {
    int b[2];
    memset(b, 0, sizeof b);
    return b[1];
}
