// expect: race 9
// expect: race 21
// models: rc11
// Clang calls a function for an atomic access whose address it does not know to be aligned.
#include <pthread.h>
_Alignas(8) char memory[8];
int data;
void *run(void *unused) {
    data = 1;
    __atomic_store_n((int *)memory, 1, __ATOMIC_RELAXED);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, run, 0);
    // The store that is read here orders nothing.
    if (__atomic_load_n((int *)memory, __ATOMIC_ACQUIRE)) {
        // Nothing orders this read after the write.
        int *seen = &data;
        return *seen - 1;
    }
    pthread_join(a, 0);
}
