// expect: assertion 7
// The end of a file is no character.
#include <assert.h>
#include <stdio.h>
int main(void) {
    int c = getchar();
    assert(c >= 0);
    return 0;
}
