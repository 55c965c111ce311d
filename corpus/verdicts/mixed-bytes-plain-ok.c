// expect: safe
// models: rc11 c20 sc tso pso
// C11 3.14: bytes are memory locations of their own. Plain writes to different bytes of a word do not race, though the
// word is read in one piece when both are there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
union {
    _Atomic uint32_t word;
    unsigned char byte[4];
} u;
void *low(void *unused) { u.byte[0] = 1; return 0; }
void *high(void *unused) { u.byte[1] = 2; return 0; }

int main(void) {
    atomic_store(&u.word, 0);
    pthread_t a, b;
    pthread_create(&a, 0, low, 0);
    pthread_create(&b, 0, high, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&u.word) == 0x0201);
}
