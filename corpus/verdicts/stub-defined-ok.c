// expect: safe
// options: --stub=*
// What is defined, or known, is never left out.
#include <assert.h>
#include <stdlib.h>
static int number(void) { return 3; }
int main(void) {
    assert(number() == 3 && abs(-4) == 4);
    return 0;
}
