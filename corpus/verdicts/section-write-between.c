// expect: assertion 20
// models: sc tso
// The same without a section: the write may come between.
#include <assert.h>
#include <pthread.h>
int x;
static int add(void) {
    int before = x;
    x = before + 1;
    return x - before;
}
static void *run(void *unused) {
    x = 7;
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int difference = add();
    assert(difference == 1);
    pthread_join(t, 0);
    return 0;
}
