// expect: safe
// models: lkmm
// The functions of Dartagnan's header for the kernel: a message that both sides order.
#include <assert.h>
#include <pthread.h>
enum order { once, acquire, release, mb, wmb, rmb };
enum operation { add, sub };
long __LKMM_load(const volatile void *, unsigned long, enum order);
void __LKMM_store(volatile void *, unsigned long, long, enum order);
long __LKMM_xchg(volatile void *, unsigned long, long, enum order);
long __LKMM_cmpxchg(volatile void *, unsigned long, long, long, enum order, enum order);
void __LKMM_atomic_op(volatile void *, unsigned long, long, enum operation);
long __LKMM_atomic_op_return(volatile void *, unsigned long, long, enum order, enum operation);
long __LKMM_atomic_fetch_op(volatile void *, unsigned long, long, enum order, enum operation);
void __LKMM_fence(enum order);
int __LKMM_SPIN_LOCK(int *);
int __LKMM_SPIN_UNLOCK(int *);
int data, flag, count, lock, plain;
void guarded(void) {
    __LKMM_SPIN_LOCK(&lock);
    plain++;
    __LKMM_SPIN_UNLOCK(&lock);
}
void *send(void *unused) {
    guarded();
    __LKMM_atomic_op(&count, 4, 5, add);
    __LKMM_store(&data, 4, 7, once);
    __LKMM_fence(wmb);
    __LKMM_store(&flag, 4, 1, once);
    return 0;
}
void *receive(void *unused) {
    guarded();
    __LKMM_atomic_fetch_op(&count, 4, 1, mb, sub);
    if ((int)__LKMM_load(&flag, 4, once)) {
        __LKMM_fence(rmb);
        assert((int)__LKMM_load(&data, 4, once) == 7);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, send, 0);
    pthread_create(&b, 0, receive, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int six = __LKMM_atomic_op_return(&count, 4, 2, release, add);
    int old = __LKMM_xchg(&count, 4, 9, acquire);
    int nine = __LKMM_cmpxchg(&count, 4, 9, 8, mb, mb);
    assert(plain == 2 && six == 6 && old == 6 && nine == 9 && count == 8);
}
