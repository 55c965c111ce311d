// A test that takes many steps and asks in the end how long it took: not as long as it would have to, so that it
// gives up.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { ROUNDS = 60000 };
static atomic_int turn;

static void *play(void *me) {
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load(&turn) != (me != 0)) sched_yield();
        atomic_store(&turn, me == 0);
    }
    return 0;
}

int main(void) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_t one, other;
    pthread_create(&one, 0, play, 0);
    pthread_create(&other, 0, play, &turn);
    pthread_join(one, 0);
    pthread_join(other, 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert(end.tv_sec - begin.tv_sec < 5);
}
