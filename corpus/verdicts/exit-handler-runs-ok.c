// expect: safe
#include <assert.h>
#include <stdlib.h>
int x;
static void last(void) {
    assert(x == 1);
}
int main(void) {
    atexit(last);
    x = 1;
    return 0;
}
