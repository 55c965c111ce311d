// Workers take blocks under a lock and go through them with a hash table, as compressors do: reads of four bytes at
// every address, and table entries of two.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 18, BLOCKS = 16, WORKERS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_block;
static unsigned char *input;

static int take(void) {
    pthread_mutex_lock(&lock);
    int block = next_block < BLOCKS ? next_block++ : -1;
    pthread_mutex_unlock(&lock);
    return block;
}

static void *worker(void *unused) {
    uint16_t *table = calloc(1 << 16, sizeof *table);
    for (int block; (block = take()) >= 0;) {
        unsigned char *output = malloc(BLOCK), *source = input + (size_t)block * BLOCK;
        size_t length = 0;
        for (size_t i = 0; i + 4 < BLOCK; i++) {
            uint32_t word;
            memcpy(&word, source + i, sizeof word);
            unsigned hash = word * 2654435761u >> 16;
            if (table[hash] == (uint16_t)i || i % 8 == 0) output[length++] = source[i];
            table[hash] = (uint16_t)i;
        }
        free(output);
    }
    free(table);
    return unused;
}

int main(void) {
    input = malloc((size_t)BLOCKS * BLOCK);
    for (size_t i = 0; i < (size_t)BLOCKS * BLOCK; i++) input[i] = (unsigned char)(i * i >> 3);
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    free(input);
    return 0;
}
