// refused: a model that forbids a thread to go on
// models: lkmm
// A grace period waits for the reader: a thread that has begun to read must not be asked to end that too late.
#include <assert.h>
#include <lkmm.h>
#include <pthread.h>
DEFINE_SRCU(domain);
static int x, y;
static void *updater(void *arg) {
    WRITE_ONCE(x, 1);
    synchronize_srcu(&domain);
    WRITE_ONCE(y, 1);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, updater, 0);
    int index = srcu_read_lock(&domain);
    int a = READ_ONCE(y), b = READ_ONCE(x);
    srcu_read_unlock(&domain, index);
    assert(!(a == 1 && b == 0));
    pthread_join(t, 0);
}
