// expect: race 6
// expect: race 13
// models: rc11
#include <pthread.h>
static void *run(void *p) {
    *(int *)p = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    int x = 0;
    pthread_create(&t, 0, run, &x);
    x = 2;
    pthread_join(t, 0);
    return 0;
}
