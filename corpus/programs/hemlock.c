/* Hemlock (Dice and Kogan 2021): a queue lock with one word for each thread, at which its successor waits. */
#include "common.h"

#ifndef N
#define N 2
#endif
struct lock;
struct self { _Atomic(struct lock *) grant; };
struct lock { _Atomic(struct self *) tail; };
static struct self selves[N];
static struct lock one;
static int counter;
static void lock(struct lock *l, struct self *me) {
    struct self *before = exchange(&l->tail, me, acq_rel);
    if (!before) return;
    while (load(&before->grant, acq) != l) {}
    store(&before->grant, NULL, rel);
}
/* Only if nobody has it. */
static int try_lock(struct lock *l, struct self *me) {
    struct self *nobody = NULL;
    return cas(&l->tail, &nobody, me, acq_rel);
}
static void unlock(struct lock *l, struct self *me) {
    struct self *last = me;
    if (cas(&l->tail, &last, NULL, rel)) return;
#ifdef BUG_RELAXED
    store(&me->grant, l, rlx);
#else
    store(&me->grant, l, rel);
#endif
    while (load(&me->grant, acq)) {}
}
static void *run(void *arg) {
    struct self *me = &selves[(long)arg];
#ifdef TRY
    while (!try_lock(&one, me)) {}
#else
    (void)try_lock;
    lock(&one, me);
#endif
    counter++;
    unlock(&one, me);
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    assert(counter == N);
    return 0;
}
