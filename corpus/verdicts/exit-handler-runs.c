// expect: assertion 6
#include <assert.h>
#include <stdlib.h>
int x;
static void last(void) {
    assert(x == 0);
}
int main(void) {
    atexit(last);
    x = 1;
    exit(0);
}
