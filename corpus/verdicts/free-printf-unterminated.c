// expect: memory 5
#include <stdio.h>
int main(void) {
    char b[3] = {'a', 'b', 'c'};
    printf("%s\n", b);
    return 0;
}
