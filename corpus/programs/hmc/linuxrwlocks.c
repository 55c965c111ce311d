/* Linux's old reader-writer lock: three threads, each reads and writes N times; with -DBOUND each tries so often. */
#include "../common.h"

#ifndef N
#define N 1
#endif
#define BIAS 0x100000
static atomic_int lock = BIAS;
static int data;
static int take(int amount, int least) {
#ifdef BOUND
    for (int i = 0; i < BOUND; i++) {
        if (atomic_fetch_sub_explicit(&lock, amount, acq) >= least) return 1;
        fetch_add(&lock, amount, rlx);
    }
    return 0;
#else
    while (atomic_fetch_sub_explicit(&lock, amount, acq) < least) {
        fetch_add(&lock, amount, rlx);
        while (load(&lock, rlx) < least) {}
    }
    return 1;
#endif
}
static void give(int amount) { fetch_add(&lock, amount, rel); }
static void *run(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < N; i++) {
        if ((i + me) % 2 == 0) {
            if (take(1, 1)) {
                (void)*(volatile int *)&data;
                give(1);
            }
        } else if (take(BIAS, BIAS)) {
            data = i;
            give(BIAS);
        }
    }
    return NULL;
}
int main(void) {
    for (int i = 0; i < 3; i++) spawn(run, i);
    join_all();
    return 0;
}
