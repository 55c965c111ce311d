// expect: lock 5
#include <pthread.h>
int main(void) {
    pthread_t t = 123456;
    pthread_join(t, 0);
    return 0;
}
