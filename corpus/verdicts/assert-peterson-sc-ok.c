// expect: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int wants[2], turn;
static int inside;
static void enter(int me) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me) {}
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&wants[me], 0);
}
static void *run(void *unused) {
    enter(1);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    enter(0);
    pthread_join(t, 0);
    return 0;
}
