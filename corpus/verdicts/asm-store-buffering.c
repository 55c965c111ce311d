// expect: assertion 21
// models: rc11 tso
// mov has no barrier behind it.
#include <assert.h>
#include <pthread.h>
static int x, y, a, b;
static void *left(void *arg) {
    __asm__ volatile("movl $1,%0" : "=m"(x)::"memory");
    __asm__ volatile("movl %1,%0" : "=r"(a) : "m"(y) : "memory");
    return 0;
}
int main(void) {
    pthread_t t;
    int seen;
    pthread_create(&t, 0, left, 0);
    __asm__ volatile("movl $1,%0" : "=m"(y)::"memory");
    __asm__ volatile("movl %1,%0" : "=r"(seen) : "m"(x) : "memory");
    pthread_join(t, 0);
    b = seen;
    (void)a;
    assert(a == 1 || b == 1);
}
