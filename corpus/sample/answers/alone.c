// Misuse in a program without a second thread; DO is the function to call.
#include <pthread.h>
#include <stdlib.h>

__attribute__((unused)) static void use_after_free(void) {
    volatile char *block = malloc(8);
    free((void *)block);
    block[3] = 1;
}

__attribute__((unused)) static void free_twice(void) {
    char *volatile block = malloc(8);
    free(block);
    free(block);
}

__attribute__((unused)) static void unlock_unlocked(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_unlock(&mutex);
}

__attribute__((unused)) static void destroy_locked(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_destroy(&mutex);
}

int main(void) {
    DO();
    return 0;
}
