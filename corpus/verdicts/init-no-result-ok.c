// expect: safe
#include <pthread.h>
int done;
void *run(void *unused) { done = 1; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return done - 1;
}
