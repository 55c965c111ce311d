// expect: safe
#include <pthread.h>
char a[2];
static void *run(void *unused) {
    a[1] = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    a[0] = 1;
    pthread_join(t, 0);
    return 0;
}
