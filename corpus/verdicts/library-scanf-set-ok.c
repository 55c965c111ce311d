// expect: safe
// options: --text abc1 --text ABC --text 12345678
// models: rc11
// Sets of characters, one of them all but some, with a width.
#include <assert.h>
#include <stdio.h>
int main(void) {
    char word[8], rest[5];
    if (scanf("%7[a-z]", word) == 1) assert(word[0] == 'a' && word[2] == 'c' && word[3] == 0);
    if (scanf("%4[^a-zA-Z]", rest) == 1) assert(rest[0] == '1' && rest[3] == '4' && rest[4] == 0);
}
