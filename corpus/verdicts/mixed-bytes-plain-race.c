// expect: race 13
// expect: race 15
// models: rc11
// A plain write to a byte races with an atomic read of the word around it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
union {
    _Atomic uint32_t word;
    unsigned char byte[4];
} u;
void *read(void *unused) { return (void *)(uintptr_t)atomic_load(&u.word); }
void *high(void *unused) {
    u.byte[1] = 2;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, read, 0);
    pthread_create(&b, 0, high, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
