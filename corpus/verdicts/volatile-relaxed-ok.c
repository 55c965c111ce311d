// expect: safe
// options: --volatile relaxed
// models: rc11
// As relaxed atomics, volatile accesses do not race.
#include <pthread.h>
volatile int flag;
static void *run(void *unused) {
    flag = 1;
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int seen = flag;
    pthread_join(t, 0);
    return seen;
}
