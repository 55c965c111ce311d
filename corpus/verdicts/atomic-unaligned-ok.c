// expect: safe
// Clang calls a function for an atomic access whose address it does not know to be aligned.
#include <assert.h>
#include <pthread.h>
_Alignas(8) char memory[8];
void *run(void *unused) {
    __atomic_fetch_add((int *)memory, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or((short *)(memory + 4), 2, __ATOMIC_SEQ_CST);
    return 0;
}

int main(void) {
    __atomic_store_n((int *)memory, 1, __ATOMIC_RELEASE);
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(__atomic_load_n((int *)memory, __ATOMIC_ACQUIRE) == 3);
    short two = 2;
    assert(__atomic_compare_exchange_n((short *)(memory + 4), &two, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    assert(__atomic_exchange_n((short *)(memory + 4), 7, __ATOMIC_SEQ_CST) == 5);
}
