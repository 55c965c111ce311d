// expect: safe
#include <pthread.h>
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void) {
    pthread_cond_destroy(&c);
    pthread_cond_init(&c, 0);
    pthread_cond_signal(&c);
    return pthread_cond_destroy(&c);
}
