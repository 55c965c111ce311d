// expect: safe
#include <pthread.h>
pthread_key_t k;
static void *run(void *unused) {
    pthread_setspecific(k, (void *)2);
    return pthread_getspecific(k);
}
int main(void) {
    pthread_t t;
    pthread_key_create(&k, 0);
    pthread_setspecific(k, (void *)1);
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return (long)pthread_getspecific(k) - 1;
}
