// expect: safe
#include <stdio.h>
int main(void) {
    int x = 0;
    printf("%p\n", (void *)&x);
    return 0;
}
