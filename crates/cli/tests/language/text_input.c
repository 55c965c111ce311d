// wrong: assertion
// Lines, words, arguments and the environment: the texts that the program compares with are tried.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char line[8], word[8];
    int number;
    const char *mode = getenv("MODE");
    if (mode && strcmp(mode, "fast") == 0) {
        assert(strlen(mode) == 4);
        return 0;
    }
    if (!fgets(line, sizeof line, stdin))
        return 0;
    assert(strlen(line) < sizeof line);
    if (line[0] == 'q') {
        if (scanf("%7s %d", word, &number) != 2)
            return 0;
        assert(strlen(word) > 0 && strlen(word) < 8);
#ifdef WRONG
        assert(strcmp(word, "stop") != 0 || number != 77);
#endif
    }
    return 0;
}
