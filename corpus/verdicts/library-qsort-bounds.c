// expect: memory 8
// models: rc11
// One element too many is sorted: told where the program calls qsort.
#include <stdlib.h>
static int compare(const void *a, const void *b) { return 0; }
int main(void) {
    int values[3] = {3, 2, 1};
    qsort(values, 4, sizeof *values, compare);
}
