// expect: memory 5
#include <string.h>
char a[8];
int main(void) {
    memset(a, 1, 9);
    return a[0];
}
