// expect: assertion 6
#include <assert.h>
#include <stdlib.h>
int main(void) {
    int side = rand() % 6;
    assert(side != 5);
    return 0;
}
