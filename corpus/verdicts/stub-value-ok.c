// expect: safe
// options: --stub=*
// A function that nobody defines leaves alone what its arguments point to, and is called by its address, too.
#include <assert.h>
#include <pthread.h>
unsigned sensor(int *);
int filled = 1;
static void *reader(void *read) {
    assert((((unsigned (*)(int *))read)(&filled) & 3) <= 3 && filled == 1);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reader, (void *)sensor);
    pthread_join(t, 0);
    return filled - 1;
}
