/* Threads insert into a shared hash table with compare-and-swap (Flanagan and Godefroid). */
#include "common.h"

#ifndef N
#define N 12
#endif
#define SIZE 128
#define MAX 4
static atomic_int table[SIZE];
static void *run(void *arg) {
    int tid = (int)(long)arg;
    for (int m = 0; m < MAX; m++) {
        int w = (m + 1) * 11 + tid, h = (w * 7) % SIZE;
        for (;;) {
            int e = 0;
            if (cas(&table[h], &e, w, rlx)) break;
            h = (h + 1) % SIZE;
        }
    }
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    return 0;
}
