// Four megabytes of thread-local storage.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static __thread char storage[4 << 20];

static void *work(void *unused) {
    for (int i = 0; i < 4; i++) {
        char *page = storage + i * (1 << 20);
        assert(*page == 0);
        *page = 1;
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    work(0);
    return 0;
}
