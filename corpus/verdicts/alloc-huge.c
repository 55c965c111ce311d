// expect: memory 5
#include <stdlib.h>
int main(void) {
    char *p = malloc(-2);
    p[0] = 1;
    return 0;
}
