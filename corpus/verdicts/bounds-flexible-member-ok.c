// expect: safe
#include <stdlib.h>
struct list { int n; int v[]; };
int main(void) {
    struct list *l = malloc(sizeof *l + 2 * sizeof(int));
    l->v[1] = 5;
    int r = l->v[1] - 5;
    free(l);
    return r;
}
