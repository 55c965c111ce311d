/* N writers and a reader (Tracer): (N+1)! executions. */
#include "common.h"

#ifndef N
#define N 5
#endif
static atomic_int x;
static void *writer(void *arg) { store(&x, (int)(long)arg, rel); return NULL; }
static void *reader(void *arg) { (void)load(&x, acq); return NULL; }
int main(void) {
    for (int i = 1; i <= N; i++) spawn(writer, i);
    spawn(reader, 0);
    join_all();
    return 0;
}
