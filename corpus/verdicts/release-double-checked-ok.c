// expect: safe
// The second look is under the lock, the first one acquires.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int made;
static int object;
static void *use(void *unused) {
    if (!atomic_load_explicit(&made, memory_order_acquire)) {
        pthread_mutex_lock(&m);
        if (!atomic_load_explicit(&made, memory_order_relaxed)) {
            object = 5;
            atomic_store_explicit(&made, 1, memory_order_release);
        }
        pthread_mutex_unlock(&m);
    }
    assert(object == 5);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, use, 0);
    use(0);
    pthread_join(t, 0);
    return 0;
}
