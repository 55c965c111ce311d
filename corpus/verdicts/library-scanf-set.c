// expect: assertion 9
// options: --text abc1 --text ABC
// models: rc11
// A set of characters: what is read goes to the first that is not in it.
#include <assert.h>
#include <stdio.h>
int main(void) {
    char word[8];
    if (scanf("%7[a-z]", word) == 1) assert(word[3] != 0);
}
