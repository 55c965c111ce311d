// wrong: memory
#include <assert.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    int *p = malloc(2 * sizeof(int)), *old = p;
    p[0] = 1, p[1] = 2;
    p = realloc(p, 4 * sizeof(int));
    assert(p[0] == 1 && p[1] == 2);
    p[3] = 4;
#ifdef WRONG
    old[0] = 5;
#endif
    (void)old;
    p = reallocarray(p, 1, sizeof(int));
    assert(p[0] == 1);
    p = realloc(p, 0);
    p = realloc(NULL, 8);
    p[1] = 3;
    free(p);
    char *text = strdup("abc");
    assert(strcmp(text, "abc") == 0);
    free(text);
    return 0;
}
