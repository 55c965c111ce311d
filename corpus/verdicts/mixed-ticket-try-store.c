// expect: race 20
// expect: race 30
// expect: liveness 19
// models: rc11
// A ticket lock on the heap: two halves for who waits, and one compare-and-swap over both for who only tries, as in
// Concurrency Kit. Here it only stores, and may take what another has. What malloc gives is set by the halves.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
union ticket {
    _Atomic uint32_t both;
    struct { _Atomic uint16_t next, owner; };
} *lock;
int counter;
void *wait(void *unused) {
    uint16_t mine = atomic_fetch_add(&lock->next, 1);
    while (atomic_load(&lock->owner) != mine) {}
    counter++;
    atomic_store(&lock->owner, mine + 1);
    return 0;
}
void *try(void *unused) {
    uint32_t seen = atomic_load(&lock->both);
    uint16_t next = seen, owner = seen >> 16;
    if (next != owner) return 0;
    uint32_t taken = (uint32_t)owner << 16 | (uint16_t)(next + 1);
    atomic_store(&lock->both, taken);
    counter++;
    atomic_store(&lock->owner, owner + 1);
    return 0;
}

int main(void) {
    lock = malloc(sizeof *lock);
    atomic_init(&lock->next, 7);
    atomic_init(&lock->owner, 7);
    pthread_t a, b;
    pthread_create(&a, 0, wait, 0);
    pthread_create(&b, 0, try, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 1 || counter == 2);
    free(lock);
}
