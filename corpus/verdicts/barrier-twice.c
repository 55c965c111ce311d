// expect: lock 6
#include <pthread.h>
pthread_barrier_t b;
int main(void) {
    pthread_barrier_init(&b, 0, 1);
    pthread_barrier_init(&b, 0, 1);
    return 0;
}
