// expect: safe
// The place of a member reads nothing.
#include <stddef.h>
struct s { int a, b; };
int main(void) { return offsetof(struct s, b) == sizeof(int) ? 0 : 1; }
