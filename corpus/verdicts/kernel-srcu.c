// expect: assertion 21
// models: lkmm
// Without a reader that it knows of, a grace period waits for nobody.
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
    int index = 0;
    int a = READ_ONCE(y), b = READ_ONCE(x);
    (void)index;
    assert(!(a == 1 && b == 0));
    pthread_join(t, 0);
}
