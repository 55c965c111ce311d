// expect: safe
#include <assert.h>
int main(void) {
    int x = 1;
    assert(x == 1);
    return 0;
}
