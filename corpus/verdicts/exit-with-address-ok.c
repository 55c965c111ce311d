// expect: safe
// What pthread_exit is given is what pthread_join gives.
#include <assert.h>
#include <pthread.h>
int global;
void *run(void *which) {
    int x = 1;
    pthread_exit(which ? &global : (void *)(long)x);
}
int main(void) {
    pthread_t t, u;
    void *first, *second;
    pthread_create(&t, 0, run, 0);
    pthread_create(&u, 0, run, &global);
    pthread_join(t, &first);
    pthread_join(u, &second);
    assert(first == (void *)1 && second == &global);
    return 0;
}
