// Waiting on a flag that is not atomic: a data race, and not a hang.
#include <pthread.h>

int flag;

__attribute__((noinline)) static int is_set(int *f) { return *f; }

static void *wait_for_flag(void *unused) {
    while (!is_set(&flag)) __asm__ volatile("" ::: "memory");
    return unused;
}

static void *set_flag(void *unused) {
    flag = 1;
    return unused;
}

int main(void) {
    pthread_t waiting, setting;
    pthread_create(&waiting, 0, wait_for_flag, 0);
    pthread_create(&setting, 0, set_flag, 0);
    pthread_join(waiting, 0);
    return pthread_join(setting, 0);
}
