// expect: safe
// options: --volatile acqrel
// models: rc11
// As acquire loads and release stores, volatile accesses publish what was written before it.
#include <pthread.h>
volatile int flag;
int data;
static void *run(void *unused) {
    data = 1;
    flag = 1;
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    if (flag)
        return data - 1;
    pthread_join(t, 0);
    return 0;
}
