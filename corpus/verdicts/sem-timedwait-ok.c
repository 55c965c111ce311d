// expect: safe
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <time.h>
sem_t s;
int main(void) {
    struct timespec at = {1, 0};
    sem_init(&s, 0, 0);
    assert(sem_timedwait(&s, &at) == -1 && errno == ETIMEDOUT);
    return 0;
}
