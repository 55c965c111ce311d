// expect: memory 13
#include <threads.h>
int *q;
static int run(void *unused) {
    int x = 1;
    q = &x;
    thrd_exit(0);
}
int main(void) {
    thrd_t t;
    thrd_create(&t, run, 0);
    thrd_join(t, 0);
    return *q;
}
