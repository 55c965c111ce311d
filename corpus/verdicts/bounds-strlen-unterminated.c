// expect: memory 5
#include <string.h>
int main(void) {
    char b[3] = {'a', 'b', 'c'};
    return strlen(b);
}
