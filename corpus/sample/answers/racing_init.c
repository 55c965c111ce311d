// A mutex is initialised by one thread while another locks it.
#include <pthread.h>

static pthread_mutex_t lock;

static void *initialise(void *unused) {
    pthread_mutex_init(&lock, 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, initialise, 0);
    pthread_mutex_lock(&lock);
    pthread_join(thread, 0);
    return 0;
}
