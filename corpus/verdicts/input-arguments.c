// expect: assertion 9
// options: --arg 3 --arg=-x
// models: rc11
// Arguments that are given.
#include <assert.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    assert(argc == 3 && argv[2][0] == '-' && argv[3] == 0);
    assert(atoi(argv[1]) != 3);
}
