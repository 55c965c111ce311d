// expect: memory 5
#include <string.h>
int main(void) {
    int b[2];
    memset(b, 0, 12);
    return b[0];
}
