// expect: memory 5
#include <stdlib.h>
int x;
int main(void) {
    free(&x);
    return 0;
}
