/* A reader-writer lock as Linux had it: a counter that starts at a bias. */
#include "common.h"

#ifndef W
#define W 1
#endif
#ifndef R
#define R 1
#endif
#define BIAS 0x100000
static atomic_int lock = BIAS;
static int data;
static void read_lock(void) {
    int before = atomic_fetch_sub_explicit(&lock, 1, acq);
    while (before <= 0) {
        fetch_add(&lock, 1, rlx);
        while (load(&lock, rlx) <= 0) {}
        before = atomic_fetch_sub_explicit(&lock, 1, acq);
    }
}
static void read_unlock(void) { fetch_add(&lock, 1, rel); }
static void write_lock(void) {
    int before = atomic_fetch_sub_explicit(&lock, BIAS, acq);
    while (before != BIAS) {
        fetch_add(&lock, BIAS, rlx);
        while (load(&lock, rlx) != BIAS) {}
        before = atomic_fetch_sub_explicit(&lock, BIAS, acq);
    }
}
static void write_unlock(void) {
#ifdef BUG_RELAXED
    fetch_add(&lock, BIAS, rlx);
#else
    fetch_add(&lock, BIAS, rel);
#endif
}
static void *reader(void *arg) { read_lock(); (void)*(volatile int *)&data; read_unlock(); return NULL; }
static void *writer(void *arg) { write_lock(); data = 1; write_unlock(); return NULL; }
int main(void) {
    for (int i = 0; i < W; i++) spawn(writer, i);
    for (int i = 0; i < R; i++) spawn(reader, i);
    join_all();
    return 0;
}
