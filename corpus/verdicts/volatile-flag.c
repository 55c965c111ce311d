// expect: race 9
// expect: race 14
// models: rc11
// In C a volatile access is an ordinary one: two of them race.
#include <pthread.h>
volatile int flag;
int data;
static void *run(void *unused) {
    flag = 1;
    return unused;
}
static void wait_for(void) {
    for (int i = 0; i < 2; i++)
        if (flag)
            break;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    wait_for();
    pthread_join(t, 0);
    return 0;
}
