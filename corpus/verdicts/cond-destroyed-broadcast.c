// expect: lock 6
#include <pthread.h>
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void) {
    pthread_cond_destroy(&c);
    pthread_cond_broadcast(&c);
    return 0;
}
