// expect: assertion 7
#include <assert.h>
#include <semaphore.h>
sem_t s;
int main(void) {
    sem_init(&s, 0, 0);
    assert(sem_trywait(&s) == 0);
    return 0;
}
