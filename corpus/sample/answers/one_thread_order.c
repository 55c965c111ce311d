// One thread takes twelve locks in a circle, two at a time: no deadlock of this program, but what ThreadSanitizer reports.
#include <pthread.h>

enum { LOCKS = 12 };
static pthread_mutex_t locks[LOCKS];

int main(void) {
    for (int i = 0; i < LOCKS; i++) pthread_mutex_init(&locks[i], 0);
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&locks[i]);
        pthread_mutex_lock(&locks[(i + 1) % LOCKS]);
        pthread_mutex_unlock(&locks[i]);
        pthread_mutex_unlock(&locks[(i + 1) % LOCKS]);
    }
    return 0;
}
