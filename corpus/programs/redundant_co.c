/* Two threads write the same value N times, one reads twice (Tracer). */
#include "common.h"

#ifndef N
#define N 3
#endif
static atomic_int x;
static void *writer(void *arg) { for (int i = 0; i < N; i++) store(&x, 1, rel); return NULL; }
static void *reader(void *arg) { (void)load(&x, acq); (void)load(&x, acq); return NULL; }
int main(void) {
    spawn(writer, 0);
    spawn(writer, 1);
    spawn(reader, 2);
    join_all();
    return 0;
}
