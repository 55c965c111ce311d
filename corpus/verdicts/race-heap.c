// expect: race 7
// expect: race 14
// models: rc11
#include <pthread.h>
#include <stdlib.h>
static void *run(void *p) {
    *(int *)p = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    int *p = calloc(1, 4);
    pthread_create(&t, 0, run, p);
    *p = 2;
    pthread_join(t, 0);
    free(p);
    return 0;
}
