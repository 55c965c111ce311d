// expect: lock 7
#include <semaphore.h>
sem_t s;
int main(void) {
    sem_init(&s, 0, 1);
    sem_destroy(&s);
    sem_destroy(&s);
    return 0;
}
