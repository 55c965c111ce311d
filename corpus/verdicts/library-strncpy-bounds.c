// expect: memory 8
// models: rc11
// It fills up to the size that it is given: told where the program calls it.
#include <stdio.h>
#include <string.h>
int main(void) {
    char to[4];
    strncpy(to, "abc", 8);
    puts(to);
}
