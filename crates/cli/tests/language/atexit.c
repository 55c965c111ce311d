// wrong: assertion
#include <assert.h>
#include <stdlib.h>
static int x;
static void first(void) { assert(x == 3); }
static void second(void) { x += 2; }
static void third(void) {
#ifndef WRONG
    x = 1;
#endif
}
__attribute__((constructor)) static void before(void) { atexit(first); }
int main(int argc, char **argv) {
    atexit(second);
    atexit(third);
    if (argc > 0) exit(0);
    return 0;
}
