// expect: safe
#include <string.h>
int main(void) {
    char b[3] = {'a', 'b', 0};
    return strlen(b) - 2;
}
