// expect: assertion 10
#include <assert.h>
#include <pthread.h>
pthread_once_t o = PTHREAD_ONCE_INIT;
int x;
static void init(void) { x++; }
int main(void) {
    pthread_once(&o, init);
    pthread_once(&o, init);
    assert(x == 2);
    return 0;
}
