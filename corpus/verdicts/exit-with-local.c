// expect: memory 14
// The variable ends with its thread.
#include <pthread.h>
void *run(void *unused) {
    int x = 1;
    pthread_exit(&x);
}

int main(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, &result);
    return *(int *)result;
}
