// expect: safe
// A thread begins in a function with more parameters than it gets arguments. It does not look at them.
#include <assert.h>
#include <pthread.h>
int seen;
void *run(void *argument, int more, void *and_more) {
    seen = *(int *)argument;
    return 0;
}
int main(void) {
    pthread_t t;
    int seven = 7;
    pthread_create(&t, 0, (void *(*)(void *))run, &seven);
    pthread_join(t, 0);
    assert(seen == 7);
}
