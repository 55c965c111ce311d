// expect: trap 5
#include <limits.h>
volatile long a = LONG_MIN, b = -1;
int main(void) {
    return a % b;
}
