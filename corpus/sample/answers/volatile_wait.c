// Waiting on a volatile flag where volatile accesses count as plain ones: a data race, and not a hang.
#include <pthread.h>

static volatile int flag;

static void *wait_for_flag(void *unused) {
    while (!flag) {}
    return unused;
}

int main(void) {
    pthread_t waiting;
    pthread_create(&waiting, 0, wait_for_flag, 0);
    flag = 1;
    return pthread_join(waiting, 0);
}
