// expect: memory 6
#include <stdlib.h>
struct list { int n; int v[]; };
int main(void) {
    struct list *l = malloc(sizeof *l + 2 * sizeof(int));
    l->v[2] = 5;
    free(l);
    return 0;
}
