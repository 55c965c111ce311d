// expect: safe
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
sem_t s;
int main(void) {
    sem_init(&s, 0, 1);
    assert(sem_trywait(&s) == 0);
    assert(sem_trywait(&s) == -1 && errno == EAGAIN);
    return 0;
}
