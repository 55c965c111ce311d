// expect: safe
#include <assert.h>
#include <stdlib.h>
static void last(void) { assert(0); }
int main(void) {
    atexit(last);
    _Exit(0);
}
