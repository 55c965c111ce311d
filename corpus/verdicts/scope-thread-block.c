// expect: memory 4
#include <pthread.h>
static void *run(void *arg) {
    *(int *)arg = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    {
        int x;
        pthread_create(&t, 0, run, &x);
    }
    pthread_join(t, 0);
    return 0;
}
