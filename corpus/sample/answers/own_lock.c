// A lock of the program's own that it announces: what the marks say orders, what its code does orders nothing.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
enum { TRY = 1 << 4, FAILED = 1 << 5 };

typedef struct {
    atomic_int taken;
} lock_t;

static lock_t first, second;
static int data;

static void lock(lock_t *l) {
    __tsan_mutex_pre_lock(l, 0);
    while (atomic_exchange(&l->taken, 1)) sched_yield();
    __tsan_mutex_post_lock(l, 0, 0);
}

static int try_lock(lock_t *l) {
    __tsan_mutex_pre_lock(l, TRY);
    int got = !atomic_exchange(&l->taken, 1);
    __tsan_mutex_post_lock(l, TRY | (got ? 0 : FAILED), 0);
    return got;
}

static void unlock(lock_t *l) {
    __tsan_mutex_pre_unlock(l, 0);
    atomic_store(&l->taken, 0);
    __tsan_mutex_post_unlock(l, 0);
}

static void both(lock_t *a, lock_t *b) {
    lock(a);
    lock(b);
    data++;
    unlock(b);
    unlock(a);
}

#ifdef RIGHT
// Both lock.
static void *locked(void *u) { lock(&first); data++; unlock(&first); return u; }
// Both in the same order.
static void *ordered(void *u) { both(&first, &second); return u; }
static void *(*const cases[][2])(void *) = {{locked, locked}, {ordered, ordered}};
static const char *const names[] = {"locked", "ordered"};
#elif defined ORDER
static void *forwards(void *u) { both(&first, &second); return u; }
static void *backwards(void *u) { both(&second, &first); return u; }
static void *(*const cases[][2])(void *) = {{forwards, backwards}};
static const char *const names[] = {"order"};
#elif defined MISUSE
static void *nothing(void *u) { return u; }
static void *unlocks(void *u) { unlock(&first); return u; }
static void *destroys(void *u) {
    lock(&second);
    __tsan_mutex_destroy(&second, 0);
    return u;
}
static void *(*const cases[][2])(void *) = {{nothing, unlocks}, {nothing, destroys}};
static const char *const names[] = {"unlocks", "destroys"};
#else
// Who fails to get the lock learns nothing of who has it.
static void *holds(void *u) { lock(&first); data++; unlock(&first); lock(&first); return u; }
static void *tries(void *u) { if (!try_lock(&first)) data++; return u; }
static void *(*const cases[][2])(void *) = {{holds, tries}};
static const char *const names[] = {"tries"};
#endif

int main(int argc, char **argv) {
    __tsan_mutex_create(&first, 0);
    __tsan_mutex_create(&second, 0);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (argc < 2) puts(names[i]);
        else if (!strcmp(argv[1], names[i])) {
            pthread_t thread[2];
            for (int t = 0; t < 2; t++) pthread_create(&thread[t], 0, cases[i][t], 0);
            for (int t = 0; t < 2; t++) pthread_join(thread[t], 0);
        }
    }
    return 0;
}
