// expect: safe
#include <stdlib.h>
int main(void) {
    char *p = malloc(-2);
    return p != 0;
}
