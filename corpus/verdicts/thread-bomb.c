// refused: threads
// models: rc11
#include <pthread.h>
static void *run(void *unused) { return unused; }
int main(void) {
    for (;;) {
        pthread_t t;
        pthread_create(&t, 0, run, 0);
    }
}
