// expect: safe
#include <semaphore.h>
sem_t s;
int main(void) {
    int v;
    sem_init(&s, 0, 3);
    sem_wait(&s);
    sem_getvalue(&s, &v);
    return v - 2;
}
