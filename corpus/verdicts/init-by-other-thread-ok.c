// expect: safe
#include <pthread.h>
static void *set(void *p) {
    *(int *)p = 5;
    return 0;
}
int main(void) {
    int x;
    pthread_t t;
    pthread_create(&t, 0, set, &x);
    pthread_join(t, 0);
    return x - 5;
}
