/* The primitives of the Linux kernel, for `porf verify --model lkmm`.
   Each makes the events that the Linux-kernel memory model gives it. */
#ifndef PORF_LKMM_H
#define PORF_LKMM_H
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

/* What the verifier knows. All but the first two arguments are constants. */
void __porf_fence(int kind);
unsigned long __porf_update(void *place, unsigned long operand, int size, int op, int order, int gives);
unsigned long __porf_cmpxchg(void *place, unsigned long expected, unsigned long value, int size, int order);
unsigned long __porf_add_unless(void *place, unsigned long operand, unsigned long unless, int size);
int __porf_srcu_lock(void *domain);
void __porf_srcu_unlock(void *domain, int index);
void __porf_srcu_sync(void *domain);
void __porf_spin_lock(void *lock);
void __porf_spin_unlock(void *lock);
int __porf_spin_trylock(void *lock);
int __porf_spin_is_locked(void *lock);

enum { __PORF_RELAXED, __PORF_ACQUIRE, __PORF_RELEASE, __PORF_FULL };
enum { __PORF_XCHG, __PORF_ADD, __PORF_SUB, __PORF_AND, __PORF_ANDNOT, __PORF_OR, __PORF_XOR };
enum { __PORF_NOTHING, __PORF_OLD, __PORF_NEW };

/* Accesses. */
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define smp_store_mb(x, v) do { WRITE_ONCE(x, v); smp_mb(); } while (0)

/* Barriers. */
#define smp_mb() __porf_fence(0)
#define smp_rmb() __porf_fence(1)
#define smp_wmb() __porf_fence(2)
#define barrier() __porf_fence(3)
#define smp_mb__before_atomic() __porf_fence(4)
#define smp_mb__after_atomic() __porf_fence(5)
#define smp_mb__after_spinlock() __porf_fence(6)
#define smp_mb__after_unlock_lock() __porf_fence(7)
#define cpu_relax() ((void)0)

/* Read-copy-update. */
#define rcu_read_lock() __porf_fence(8)
#define rcu_read_unlock() __porf_fence(9)
#define synchronize_rcu() __porf_fence(10)
#define synchronize_rcu_expedited() __porf_fence(10)
#define rcu_dereference(p) READ_ONCE(p)
#define rcu_dereference_check(p, c) READ_ONCE(p)
#define rcu_dereference_protected(p, c) (p)
#define rcu_access_pointer(p) READ_ONCE(p)
#define rcu_assign_pointer(p, v) smp_store_release(&(p), (v))
#define RCU_INIT_POINTER(p, v) WRITE_ONCE(p, v)

/* What waits for a grace period without holding up its caller: a thread that waits instead. */
struct rcu_head { void (*func)(struct rcu_head *); };
static inline void *__porf_after_grace_period(void *head) {
    synchronize_rcu();
    ((struct rcu_head *)head)->func((struct rcu_head *)head);
    return 0;
}
static inline void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *)) {
    pthread_t thread;
    head->func = func;
    pthread_create(&thread, 0, __porf_after_grace_period, head);
}
static inline void *__porf_free_after_grace_period(void *memory) {
    synchronize_rcu();
    free(memory);
    return 0;
}
static inline void __porf_kfree_rcu(void *memory) {
    pthread_t thread;
    pthread_create(&thread, 0, __porf_free_after_grace_period, memory);
}
#define kfree_rcu(p, member) __porf_kfree_rcu(p)
#define kvfree_rcu(p, member) __porf_kfree_rcu(p)
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

/* Sleepable read-copy-update. */
struct srcu_struct { int cell; };
#define DEFINE_SRCU(s) struct srcu_struct s
#define DEFINE_STATIC_SRCU(s) static struct srcu_struct s
#define srcu_read_lock(s) __porf_srcu_lock(s)
#define srcu_read_unlock(s, i) __porf_srcu_unlock((s), (i))
#define synchronize_srcu(s) __porf_srcu_sync(s)
#define synchronize_srcu_expedited(s) __porf_srcu_sync(s)

/* Sequence counters. A reader that meets a writer tries again. */
typedef struct { unsigned sequence; } seqcount_t;
#define SEQCNT_ZERO(s) { 0 }
#define seqcount_init(s) ((void)WRITE_ONCE((s)->sequence, 0))
static inline unsigned read_seqcount_begin(const seqcount_t *s) {
    unsigned seen;
    while ((seen = READ_ONCE(s->sequence)) & 1)
        ;
    __porf_fence(1);
    return seen;
}
static inline int read_seqcount_retry(const seqcount_t *s, unsigned seen) {
    __porf_fence(1);
    return READ_ONCE(s->sequence) != seen;
}
static inline void write_seqcount_begin(seqcount_t *s) {
    WRITE_ONCE(s->sequence, READ_ONCE(s->sequence) + 1);
    __porf_fence(2);
}
static inline void write_seqcount_end(seqcount_t *s) {
    __porf_fence(2);
    WRITE_ONCE(s->sequence, READ_ONCE(s->sequence) + 1);
}

/* Spin locks. */
typedef struct { int cell; } spinlock_t;
#define DEFINE_SPINLOCK(l) spinlock_t l
#define __SPIN_LOCK_UNLOCKED(l) { 0 }
#define spin_lock(l) __porf_spin_lock(l)
#define spin_unlock(l) __porf_spin_unlock(l)
#define spin_trylock(l) __porf_spin_trylock(l)
#define spin_is_locked(l) __porf_spin_is_locked(l)

/* xchg and cmpxchg. */
#define __PORF_UPDATE(p, v, op, order, gives) \
    ((__typeof__(*(p)))__porf_update((p), (unsigned long)(v), sizeof(*(p)), op, order, gives))
#define __PORF_CMPXCHG(p, o, n, order) \
    ((__typeof__(*(p)))__porf_cmpxchg((p), (unsigned long)(o), (unsigned long)(n), sizeof(*(p)), order))
#define xchg(p, v) __PORF_UPDATE(p, v, __PORF_XCHG, __PORF_FULL, __PORF_OLD)
#define xchg_relaxed(p, v) __PORF_UPDATE(p, v, __PORF_XCHG, __PORF_RELAXED, __PORF_OLD)
#define xchg_acquire(p, v) __PORF_UPDATE(p, v, __PORF_XCHG, __PORF_ACQUIRE, __PORF_OLD)
#define xchg_release(p, v) __PORF_UPDATE(p, v, __PORF_XCHG, __PORF_RELEASE, __PORF_OLD)
#define cmpxchg(p, o, n) __PORF_CMPXCHG(p, o, n, __PORF_FULL)
#define cmpxchg_relaxed(p, o, n) __PORF_CMPXCHG(p, o, n, __PORF_RELAXED)
#define cmpxchg_acquire(p, o, n) __PORF_CMPXCHG(p, o, n, __PORF_ACQUIRE)
#define cmpxchg_release(p, o, n) __PORF_CMPXCHG(p, o, n, __PORF_RELEASE)

/* atomic_t. */
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;
#define ATOMIC_INIT(i) { (i) }
#define atomic_read(v) READ_ONCE((v)->counter)
#define atomic_set(v, i) WRITE_ONCE((v)->counter, i)
#define atomic_read_acquire(v) smp_load_acquire(&(v)->counter)
#define atomic_set_release(v, i) smp_store_release(&(v)->counter, i)
#define __PORF_ATOMIC(v, i, op, order, gives) __PORF_UPDATE(&(v)->counter, i, __PORF_##op, __PORF_##order, __PORF_##gives)

#define atomic_add(i, v) ((void)__PORF_ATOMIC(v, i, ADD, RELAXED, NOTHING))
#define atomic_sub(i, v) ((void)__PORF_ATOMIC(v, i, SUB, RELAXED, NOTHING))
#define atomic_and(i, v) ((void)__PORF_ATOMIC(v, i, AND, RELAXED, NOTHING))
#define atomic_andnot(i, v) ((void)__PORF_ATOMIC(v, i, ANDNOT, RELAXED, NOTHING))
#define atomic_or(i, v) ((void)__PORF_ATOMIC(v, i, OR, RELAXED, NOTHING))
#define atomic_xor(i, v) ((void)__PORF_ATOMIC(v, i, XOR, RELAXED, NOTHING))
#define atomic_inc(v) atomic_add(1, v)
#define atomic_dec(v) atomic_sub(1, v)

#define atomic_add_return(i, v) __PORF_ATOMIC(v, i, ADD, FULL, NEW)
#define atomic_add_return_relaxed(i, v) __PORF_ATOMIC(v, i, ADD, RELAXED, NEW)
#define atomic_add_return_acquire(i, v) __PORF_ATOMIC(v, i, ADD, ACQUIRE, NEW)
#define atomic_add_return_release(i, v) __PORF_ATOMIC(v, i, ADD, RELEASE, NEW)
#define atomic_sub_return(i, v) __PORF_ATOMIC(v, i, SUB, FULL, NEW)
#define atomic_sub_return_relaxed(i, v) __PORF_ATOMIC(v, i, SUB, RELAXED, NEW)
#define atomic_sub_return_acquire(i, v) __PORF_ATOMIC(v, i, SUB, ACQUIRE, NEW)
#define atomic_sub_return_release(i, v) __PORF_ATOMIC(v, i, SUB, RELEASE, NEW)
#define atomic_inc_return(v) atomic_add_return(1, v)
#define atomic_inc_return_relaxed(v) atomic_add_return_relaxed(1, v)
#define atomic_inc_return_acquire(v) atomic_add_return_acquire(1, v)
#define atomic_inc_return_release(v) atomic_add_return_release(1, v)
#define atomic_dec_return(v) atomic_sub_return(1, v)
#define atomic_dec_return_relaxed(v) atomic_sub_return_relaxed(1, v)
#define atomic_dec_return_acquire(v) atomic_sub_return_acquire(1, v)
#define atomic_dec_return_release(v) atomic_sub_return_release(1, v)

#define __PORF_FETCH(v, i, op, order) __PORF_ATOMIC(v, i, op, order, OLD)
#define atomic_fetch_add(i, v) __PORF_FETCH(v, i, ADD, FULL)
#define atomic_fetch_add_relaxed(i, v) __PORF_FETCH(v, i, ADD, RELAXED)
#define atomic_fetch_add_acquire(i, v) __PORF_FETCH(v, i, ADD, ACQUIRE)
#define atomic_fetch_add_release(i, v) __PORF_FETCH(v, i, ADD, RELEASE)
#define atomic_fetch_sub(i, v) __PORF_FETCH(v, i, SUB, FULL)
#define atomic_fetch_sub_relaxed(i, v) __PORF_FETCH(v, i, SUB, RELAXED)
#define atomic_fetch_sub_acquire(i, v) __PORF_FETCH(v, i, SUB, ACQUIRE)
#define atomic_fetch_sub_release(i, v) __PORF_FETCH(v, i, SUB, RELEASE)
#define atomic_fetch_and(i, v) __PORF_FETCH(v, i, AND, FULL)
#define atomic_fetch_and_relaxed(i, v) __PORF_FETCH(v, i, AND, RELAXED)
#define atomic_fetch_and_acquire(i, v) __PORF_FETCH(v, i, AND, ACQUIRE)
#define atomic_fetch_and_release(i, v) __PORF_FETCH(v, i, AND, RELEASE)
#define atomic_fetch_or(i, v) __PORF_FETCH(v, i, OR, FULL)
#define atomic_fetch_or_relaxed(i, v) __PORF_FETCH(v, i, OR, RELAXED)
#define atomic_fetch_or_acquire(i, v) __PORF_FETCH(v, i, OR, ACQUIRE)
#define atomic_fetch_or_release(i, v) __PORF_FETCH(v, i, OR, RELEASE)
#define atomic_fetch_xor(i, v) __PORF_FETCH(v, i, XOR, FULL)
#define atomic_fetch_xor_relaxed(i, v) __PORF_FETCH(v, i, XOR, RELAXED)
#define atomic_fetch_xor_acquire(i, v) __PORF_FETCH(v, i, XOR, ACQUIRE)
#define atomic_fetch_xor_release(i, v) __PORF_FETCH(v, i, XOR, RELEASE)
#define atomic_fetch_inc(v) atomic_fetch_add(1, v)
#define atomic_fetch_dec(v) atomic_fetch_sub(1, v)

#define atomic_sub_and_test(i, v) (atomic_sub_return(i, v) == 0)
#define atomic_dec_and_test(v) (atomic_dec_return(v) == 0)
#define atomic_inc_and_test(v) (atomic_inc_return(v) == 0)
#define atomic_add_negative(i, v) (atomic_add_return(i, v) < 0)
#define atomic_add_unless(v, a, u) \
    ((int)__porf_add_unless(&(v)->counter, (unsigned long)(a), (unsigned long)(u), sizeof((v)->counter)))
#define atomic_inc_not_zero(v) atomic_add_unless(v, 1, 0)

#define atomic_xchg(v, n) xchg(&(v)->counter, n)
#define atomic_xchg_relaxed(v, n) xchg_relaxed(&(v)->counter, n)
#define atomic_xchg_acquire(v, n) xchg_acquire(&(v)->counter, n)
#define atomic_xchg_release(v, n) xchg_release(&(v)->counter, n)
#define atomic_cmpxchg(v, o, n) cmpxchg(&(v)->counter, o, n)
#define atomic_cmpxchg_relaxed(v, o, n) cmpxchg_relaxed(&(v)->counter, o, n)
#define atomic_cmpxchg_acquire(v, o, n) cmpxchg_acquire(&(v)->counter, o, n)
#define atomic_cmpxchg_release(v, o, n) cmpxchg_release(&(v)->counter, o, n)

/* Memory: there is always some. */
typedef unsigned int gfp_t;
#define GFP_KERNEL ((gfp_t)0)
#define GFP_ATOMIC ((gfp_t)0)
#define kmalloc(size, flags) ((void)(flags), malloc(size))
#define kzalloc(size, flags) ((void)(flags), calloc(1, size))
#define kfree(p) free((void *)(p))

#endif
