// expect: safe
#include <pthread.h>
#include <stdlib.h>
static void *run(void *p) {
    free(p);
    return 0;
}
int main(void) {
    pthread_t t;
    int *p = malloc(4);
    *p = 1;
    pthread_create(&t, 0, run, p);
    pthread_join(t, 0);
    return 0;
}
