// expect: safe
// models: sc tso pso rc11 c20 imm armv8
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *unused) {
    while (pthread_mutex_trylock(&m))
        ;
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, run, 0);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
