// refused: no execution is complete; the assumption at
#include <assert.h>
void __VERIFIER_assume(int);
int x = 1;
int main(void) {
    __VERIFIER_assume(x == 2);
    assert(0);
    return 0;
}
