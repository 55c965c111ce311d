// expect: race 10
// expect: race 18
// options: --volatile relaxed
// models: rc11
// A relaxed flag does not publish what was written before it.
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
