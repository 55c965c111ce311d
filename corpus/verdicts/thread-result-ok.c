// expect: safe
#include <pthread.h>
static void *run(void *arg) { return arg; }
int main(void) {
    pthread_t t;
    void *r;
    pthread_create(&t, 0, run, (void *)7);
    pthread_join(t, &r);
    return (long)r - 7;
}
