// expect: safe
#include <limits.h>
volatile int a = INT_MIN, b = 1, c = -1, d = 5;
int main(void) {
    return (a / b == INT_MIN && d / c == -5) ? 0 : 1;
}
