/* What the programs share: the headers, short names for orderings, starting and joining threads. */
#ifndef COMMON_H
#define COMMON_H
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define rlx memory_order_relaxed
#define acq memory_order_acquire
#define rel memory_order_release
#define acq_rel memory_order_acq_rel
#define sc memory_order_seq_cst

#define load(p, m) atomic_load_explicit(p, m)
#define store(p, v, m) atomic_store_explicit(p, v, m)
#define fetch_add(p, v, m) atomic_fetch_add_explicit(p, v, m)
#define exchange(p, v, m) atomic_exchange_explicit(p, v, m)
#define cas(p, e, v, m) atomic_compare_exchange_strong_explicit(p, e, v, m, rlx)
#define fence(m) atomic_thread_fence(m)

static pthread_t threads[32];
static int started;

/* Starts a thread that gets `number` as its argument. */
#ifndef PERMUTED
static inline void spawn(void *(*run)(void *), long number) {
    pthread_create(&threads[started++], NULL, run, (void *)number);
}
static inline void start_all(void) {}
#else
/* The threads in the opposite order, all at the end: the answer must be the same. */
static struct { void *(*run)(void *); long number; } later[32];
static int waiting;
static inline void spawn(void *(*run)(void *), long number) {
    later[waiting].run = run;
    later[waiting++].number = number;
}
static inline void start_all(void) {
    while (waiting--) pthread_create(&threads[started++], NULL, later[waiting].run, (void *)later[waiting].number);
}
#endif

static inline void join_all(void) {
    start_all();
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}
#endif
