// expect: assertion 17
// models: sc
// options: --check assertion
// SV-COMP's own functions: an assumption that does not hold is no error, and `reach_error` is one whatever it does.
#include <pthread.h>
#include <stdlib.h>
void reach_error(void) {}
void assume_abort_if_not(int cond) {
    if (!cond) abort();
}
int x;
void *set(void *unused) { x = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    assume_abort_if_not(x == 1);
    reach_error();
    pthread_join(t, 0);
    return 0;
}
