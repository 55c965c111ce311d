// expect: memory 5
#include <string.h>
char *p;
int main(void) {
    return strlen(p);
}
