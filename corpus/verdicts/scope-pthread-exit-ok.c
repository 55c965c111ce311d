// expect: safe
#include <pthread.h>
int g, *q = &g;
static void *run(void *unused) {
    int x = 1;
    int *p = &x;
    *q = *p;
    pthread_exit(0);
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    return *q - 1;
}
