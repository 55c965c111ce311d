// expect: assertion 8
// models: rc11
// What is read may be any number.
#include <assert.h>
#include <stdio.h>
int main(void) {
    int number;
    if (scanf("%d", &number) == 1) assert(number != 5);
}
