/* One writer, N readers (RCMC): every reader sees the write or not. 2^N executions. */
#include "common.h"

#ifndef N
#define N 3
#endif
static atomic_int x;
static void *writer(void *arg) { store(&x, 42, rel); return NULL; }
static void *reader(void *arg) { (void)load(&x, acq); return NULL; }
int main(void) {
    spawn(writer, 0);
    for (int i = 0; i < N; i++) spawn(reader, i);
    join_all();
    return 0;
}
