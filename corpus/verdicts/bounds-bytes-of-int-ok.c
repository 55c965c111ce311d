// expect: safe
// Any object may be read as bytes.
#include <assert.h>
int main(void) {
    unsigned n = 0x01020304;
    unsigned char *p = (unsigned char *)&n;
    unsigned sum = 0;
    for (unsigned i = 0; i < sizeof n; i++)
        sum += p[i];
    assert(sum == 10);
    return 0;
}
