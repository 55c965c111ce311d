// A large table, filled byte by byte and then read by two threads: what is known of it is the same everywhere.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { WORDS = 2 << 20 };
static uint32_t *table;

static void *nothing(void *unused) { return unused; }

static void *reader(void *unused) {
    uint32_t sum = 0;
    for (size_t i = 0; i < WORDS; i++) sum += table[i];
    return sum == 42 ? NULL : unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, nothing, NULL);
    pthread_join(first, NULL);
    table = malloc(WORDS * sizeof *table);
    for (size_t i = 0; i < WORDS * sizeof *table; i++) ((unsigned char *)table)[i] = (unsigned char)i;
    pthread_create(&first, NULL, reader, NULL);
    pthread_create(&second, NULL, reader, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    free(table);
    return 0;
}
