// expect: assertion 17
// options: --check assertion
// models: rc11
// The race on the counter does not hide the assertion that was asked about.
#include <assert.h>
#include <pthread.h>
int counter;
static void *run(void *unused) {
    counter++;
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    counter++;
    pthread_join(t, 0);
    assert(counter == 2);
    return 0;
}
