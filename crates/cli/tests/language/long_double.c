// refused: sin of a long double
#include <math.h>
int main(int argc, char **argv) {
    long double x = argc;
    return sinl(x) > 5; /* here */
}
