// expect: trap 4
#include <stdlib.h>
int main(void) {
    abort();
}
