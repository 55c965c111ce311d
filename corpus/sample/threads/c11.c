// C11 threads, one case per argument.
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int counter, ready;

static void each(int count, int (*body)(void *)) {
    thrd_t threads[8];
    for (long i = 0; i < count; i++) assert(thrd_create(&threads[i], body, (void *)i) == thrd_success);
    for (int i = 0; i < count; i++) {
        int result;
        assert(thrd_join(threads[i], &result) == thrd_success && result == 10 + i);
    }
}

static int add(void *i) {
    mtx_lock(&mutex);
    counter++;
    mtx_unlock(&mutex);
    return 10 + (int)(long)i;
}
static void mutexes(void) {
    mtx_init(&mutex, mtx_plain);
    each(4, add);
    assert(counter == 4);
    mtx_destroy(&mutex);
    mtx_init(&mutex, mtx_recursive | mtx_timed);
    assert(mtx_lock(&mutex) == thrd_success && mtx_trylock(&mutex) == thrd_success);
    mtx_unlock(&mutex);
    mtx_unlock(&mutex);
}

static int either(void *i) {
    mtx_lock(&mutex);
    if ((long)i == 1) {
        ready = 1;
        cnd_broadcast(&condition);
    } else {
        while (!ready) cnd_wait(&condition, &mutex);
    }
    mtx_unlock(&mutex);
    return 10 + (int)(long)i;
}
static void conditions(void) {
    mtx_init(&mutex, mtx_plain);
    cnd_init(&condition);
    each(3, either);
}

static int time_out(void *i) {
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    mtx_lock(&mutex);
    int result = thrd_success;
    while (result == thrd_success) result = cnd_timedwait(&condition, &mutex, &until);
    assert(result == thrd_timedout);
    mtx_unlock(&mutex);
    return 10 + (int)(long)i;
}
static void timeouts(void) {
    mtx_init(&mutex, mtx_timed);
    cnd_init(&condition);
    each(2, time_out);
}

static void once(void) { counter++; }
static int call(void *i) {
    call_once(&flag, once);
    assert(counter == 1);
    thrd_yield();
    return 10 + (int)(long)i;
}
static void onces(void) { each(3, call); }

static atomic_int destroyed;
static void destroy(void *value) {
    atomic_fetch_add(&destroyed, 1);
    free(value);
}
static thread_local int local = 3;
static int store(void *i) {
    tss_set(key, malloc(1));
    assert(local == 3);
    local++;
    thrd_sleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    thrd_exit(10 + (int)(long)i);
}
static void storage(void) {
    tss_create(&key, destroy);
    each(3, store);
    assert(destroyed == 3);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"mutexes", mutexes}, {"conditions", conditions}, {"timeouts", timeouts}, {"onces", onces}, {"storage", storage}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2) puts(cases[i].name);
        else if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run(), 0;
    }
    return argc < 2 ? 0 : 9;
}
