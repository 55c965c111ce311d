// expect: safe
#include <assert.h>
#include <stdlib.h>
int x;
static void first(void) { assert(x == 1); }
static void second(void) { x = 1; }
int main(void) {
    atexit(first);
    atexit(second);
    return 0;
}
