// expect: safe
#include <assert.h>
#include <stdlib.h>
int main(void) {
    int side = rand() % 6;
    assert(side >= 0 && side < 6);
    return 0;
}
