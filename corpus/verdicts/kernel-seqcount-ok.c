// expect: safe
// models: lkmm
// options: --unroll 2
// A reader that did not meet the writer has seen both values of one writing.
#include <assert.h>
#include <lkmm.h>
#include <pthread.h>
static seqcount_t count;
static int x, y;
static void *writer(void *arg) {
    write_seqcount_begin(&count);
    WRITE_ONCE(x, 1);
    WRITE_ONCE(y, 1);
    write_seqcount_end(&count);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    unsigned seen = read_seqcount_begin(&count);
    int a = READ_ONCE(x), b = READ_ONCE(y);
    if (!read_seqcount_retry(&count, seen)) assert(a == b);
    pthread_join(t, 0);
}
