// expect: safe
#include <pthread.h>
static int a[2];
static void *set(void *at) {
    a[(long)at] = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, (void *)1L);
    set((void *)0L);
    pthread_join(t, 0);
    return a[0] + a[1] - 2;
}
