/* The last zero of an array that is written from the left (RCMC). */
#include "common.h"

#ifndef N
#define N 5
#endif
static atomic_int a[N + 1];
static void *finder(void *arg) {
    int i;
    for (i = N; load(&a[i], acq) != 0; i--) {}
    return NULL;
}
static void *writer(void *arg) { long j = (long)arg; store(&a[j], load(&a[j - 1], acq) + 1, rel); return NULL; }
int main(void) {
    spawn(finder, 0);
    for (int j = 1; j <= N; j++) spawn(writer, j);
    join_all();
    return 0;
}
