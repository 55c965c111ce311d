#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>
#include <pthread.h>
#include <stdlib.h>
atomic_int g = 5; _Atomic long h; atomic_bool flag; static _Thread_local int tl = 3;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void) { printf("once\n"); }
typedef struct { int a, b; } pair; _Atomic pair ap;
int main(void) {
    printf("%d %d\n", atomic_fetch_add(&g, 3), g);
    int e = 8; printf("%d ", atomic_compare_exchange_strong(&g, &e, 100)); printf("%d %d\n", g, e);
    e = 1; printf("%d ", atomic_compare_exchange_weak(&g, &e, 7)); printf("%d %d\n", g, e);
    g += 5; g--; g |= 0x1000; printf("%d %d\n", g, atomic_exchange_explicit(&g, 1, memory_order_relaxed));
    atomic_int local = 3; local++; printf("%d\n", atomic_load(&local));
    h = -4; printf("%ld %ld\n", atomic_fetch_sub(&h, 2), h);
    atomic_thread_fence(memory_order_seq_cst);
    printf("%d %d\n", atomic_exchange(&flag, 1), flag);
    tl++; int *p = &tl; *p += 2; printf("%d\n", tl);
    pthread_mutex_lock(&m); printf("%d\n", pthread_mutex_trylock(&m) != 0); pthread_mutex_unlock(&m);
    pthread_once(&once, init); pthread_once(&once, init);
    pthread_mutexattr_t at; pthread_mutexattr_init(&at); pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t *r = malloc(sizeof *r); pthread_mutex_init(r, &at); pthread_mutex_lock(r); pthread_mutex_lock(r); pthread_mutex_unlock(r); pthread_mutex_unlock(r); pthread_mutex_destroy(r); free(r);
    pair q = {1, 2}; atomic_store(&ap, q); pair s = atomic_load(&ap); printf("%d %d\n", s.a, s.b);
    pthread_rwlock_t rw; pthread_rwlock_init(&rw, NULL); pthread_rwlock_rdlock(&rw); pthread_rwlock_rdlock(&rw); printf("%d\n", pthread_rwlock_trywrlock(&rw) != 0); pthread_rwlock_unlock(&rw); pthread_rwlock_unlock(&rw); pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw);
    return 0;
}
