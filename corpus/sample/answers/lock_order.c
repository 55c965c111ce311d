// Two mutexes or spin locks taken in two orders: whether or not the threads meet, they may. Not so where a third lock, or the
// lives of the threads, keep them apart.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin_a, spin_b;
static int guarded, spinning;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    if (spinning) {
        pthread_spin_lock(first == &a ? &spin_a : &spin_b);
        pthread_spin_lock(second == &a ? &spin_a : &spin_b);
        pthread_spin_unlock(second == &a ? &spin_a : &spin_b);
        pthread_spin_unlock(first == &a ? &spin_a : &spin_b);
        return;
    }
    if (guarded) pthread_mutex_lock(&gate);
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    if (guarded) pthread_mutex_unlock(&gate);
}

static void *ab(void *unused) {
    both(&a, &b);
    return unused;
}

static void *ab_and_more(void *unused) {
    both(&a, &b);
    for (int i = 0; i < 500; i++) sched_yield();
    return unused;
}

static void *ba(void *unused) {
    both(&b, &a);
    return unused;
}

static void *readers(void *unused) {
    pthread_mutex_lock(&a);
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_unlock(&shared);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *tries(void *unused) {
    pthread_mutex_lock(&b);
    if (!pthread_mutex_trylock(&a)) pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}

static void together(void *(*one)(void *), void *(*other)(void *), int at_once) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    if (!at_once) pthread_join(threads[0], 0);
    pthread_create(&threads[1], 0, other, 0);
    if (at_once) pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}

int main(int argc, char **argv) {
#ifdef RIGHT
    const char *cases[] = {"gate", "lives", "try", "same"};
#else
    const char *cases[] = {"plain", "spin"};
#endif
    if (argc < 2) {
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) puts(cases[i]);
        return 0;
    }
    guarded = !strcmp(argv[1], "gate");
    if (!strcmp(argv[1], "gate")) together(ab, ba, 1);
    if (!strcmp(argv[1], "lives")) together(ab, ba, 0);
    if (!strcmp(argv[1], "try")) together(ab, tries, 1);
    if (!strcmp(argv[1], "same")) together(readers, readers, 1);
    spinning = !strcmp(argv[1], "spin");
    if (spinning) {
        pthread_spin_init(&spin_a, 0);
        pthread_spin_init(&spin_b, 0);
    }
    if (!strcmp(argv[1], "plain") || spinning) {
        // The second begins when the first has done it, but lives: the deadlock itself is very rare.
        pthread_t threads[2];
        pthread_create(&threads[0], 0, ab_and_more, 0);
        for (int i = 0; i < 60; i++) sched_yield();
        pthread_create(&threads[1], 0, ba, 0);
        pthread_join(threads[0], 0);
        pthread_join(threads[1], 0);
    }
    return 0;
}
