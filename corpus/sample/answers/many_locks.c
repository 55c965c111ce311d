// Two threads take ten of a thousand locks at a time, always in the same order: to look for cycles must not take long.
#include <pthread.h>
#include <stdlib.h>

enum { LOCKS = 1000, HELD = 10, ROUNDS = 3000 };
static pthread_mutex_t locks[LOCKS];
static int data[LOCKS];

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void *work(void *seed) {
    unsigned random = (unsigned)(unsigned long)seed;
    for (int round = 0; round < ROUNDS; round++) {
        int mine[HELD], count = 0;
        for (int i = 0; i < HELD; i++) mine[i] = rand_r(&random) % LOCKS;
        qsort(mine, HELD, sizeof *mine, compare);
        for (int i = 0; i < HELD; i++)
            if (i == 0 || mine[i] != mine[i - 1]) mine[count++] = mine[i];
        for (int i = 0; i < count; i++) pthread_mutex_lock(&locks[mine[i]]);
        for (int i = 0; i < count; i++) data[mine[i]]++;
        for (int i = 0; i < count; i++) pthread_mutex_unlock(&locks[mine[i]]);
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < LOCKS; i++) pthread_mutex_init(&locks[i], 0);
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)1);
    work((void *)2);
    pthread_join(thread, 0);
    return 0;
}
