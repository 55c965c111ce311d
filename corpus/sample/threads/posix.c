// POSIX threads, one case per argument: each returns 0 natively and must do so under the sampler.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int counter, ready;

static void each(int count, void *(*body)(void *)) {
    pthread_t threads[64];
    for (long i = 0; i < count; i++) assert(pthread_create(&threads[i], NULL, body, (void *)i) == 0);
    for (int i = 0; i < count; i++) assert(pthread_join(threads[i], NULL) == 0);
}

static void *add(void *unused) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
static void mutexes(void) {
    each(4, add);
    assert(counter == 40);
    pthread_mutex_t m;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &a);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == 0 && pthread_mutex_trylock(&m) == 0);
    for (int i = 0; i < 3; i++) assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_mutex_unlock(&m) == EPERM);
    pthread_mutex_destroy(&m);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &a);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == EDEADLK && pthread_mutex_unlock(&m) == 0);
    pthread_mutex_destroy(&m);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static void *try_it(void *unused) {
    assert(pthread_mutex_trylock(&held) == EBUSY);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    assert(pthread_mutex_timedlock(&held, &until) == ETIMEDOUT);
    return unused;
}
static void held_before_threads(void) {
    pthread_mutex_lock(&held);
    each(2, try_it);
    pthread_mutex_unlock(&held);
}

static void *wait_ready(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!ready) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *make_ready(void *unused) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *either(void *i) { return (long)i == 2 ? make_ready(i) : wait_ready(i); }
static void conditions(void) { each(4, either); }

static void *time_out(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&mutex);
    int error = 0;
    while (!ready && error == 0) error = pthread_cond_timedwait(&condition, &mutex, &until);
    assert(error == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void timeouts(void) { each(2, time_out); }

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *read_write(void *i) {
    for (int k = 0; k < 4; k++) {
        if ((long)i % 2) {
            pthread_rwlock_rdlock(&rw);
            assert(counter >= 0);
        } else {
            pthread_rwlock_wrlock(&rw);
            counter++;
        }
        pthread_rwlock_unlock(&rw);
    }
    return NULL;
}
static void rwlocks(void) {
    each(4, read_write);
    assert(counter == 8);
}

static pthread_barrier_t barrier;
static int slots[3];
static void *phases(void *i) {
    for (int k = 1; k <= 3; k++) {
        slots[(long)i] = k;
        int const r = pthread_barrier_wait(&barrier);
        assert(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
        for (int j = 0; j < 3; j++) assert(slots[j] == k);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}
static void barriers(void) {
    pthread_barrier_init(&barrier, NULL, 3);
    each(3, phases);
    pthread_barrier_destroy(&barrier);
}

static sem_t semaphore;
static void *pass(void *i) {
    if ((long)i == 0) {
        counter = 7;
        for (int k = 0; k < 2; k++) sem_post(&semaphore);
    } else {
        sem_wait(&semaphore);
        assert(counter == 7);
    }
    return NULL;
}
static void semaphores(void) {
    sem_init(&semaphore, 0, 0);
    each(3, pass);
    int value;
    sem_getvalue(&semaphore, &value);
    assert(value == 0 && sem_trywait(&semaphore) == -1 && errno == EAGAIN);
}

static pthread_spinlock_t spin;
static void *spin_add(void *unused) {
    pthread_spin_lock(&spin);
    counter++;
    pthread_spin_unlock(&spin);
    return unused;
}
static void spinlocks(void) {
    pthread_spin_init(&spin, 0);
    each(4, spin_add);
    assert(counter == 4);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialise(void) { counter++; }
static void *call_once_(void *unused) {
    pthread_once(&once, initialise);
    assert(counter == 1);
    return unused;
}
static void onces(void) { each(3, call_once_); }

static pthread_key_t key;
static __thread int local = 5;
static int destroyed;
static void destroy(void *value) {
    pthread_mutex_lock(&mutex);
    destroyed += *(int *)value;
    pthread_mutex_unlock(&mutex);
    free(value);
}
static void *use_key(void *i) {
    assert(local == 5 && pthread_getspecific(key) == NULL);
    local += (int)(long)i;
    int *value = malloc(sizeof *value);
    *value = 1;
    pthread_setspecific(key, value);
    errno = (int)(long)i;
    sched_yield();
    assert(local == 5 + (long)i && errno == (long)i && pthread_getspecific(key) == value);
    return NULL;
}
static void storage(void) {
    local = 9;
    pthread_key_create(&key, destroy);
    each(4, use_key);
    assert(destroyed == 4 && local == 9);
    pthread_key_delete(key);
}

static void *detached(void *unused) {
    pthread_mutex_lock(&mutex);
    ready++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void detach(void) {
    pthread_t t;
    for (int i = 0; i < 3; i++) {
        pthread_create(&t, NULL, detached, NULL);
        assert(pthread_detach(t) == 0);
    }
    pthread_mutex_lock(&mutex);
    while (ready < 3) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void cleanup(void *value) { *(int *)value += 1; }
static int cleaned;
static void *leave(void *unused) {
    pthread_cleanup_push(cleanup, &cleaned);
    pthread_exit((void *)42);
    pthread_cleanup_pop(0);
    return unused;
}
static void *forever(void *unused) {
    pthread_cleanup_push(cleanup, &cleaned);
    for (;;) sleep(1);
    pthread_cleanup_pop(0);
    return unused;
}
static void exits(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, leave, NULL);
    pthread_join(t, &result);
    assert(result == (void *)42 && cleaned == 1);
    pthread_create(&t, NULL, forever, NULL);
    pthread_cancel(t);
    pthread_join(t, &result);
    assert(result == PTHREAD_CANCELED && cleaned == 2);
}

static void *make_child(void *unused) {
    pid_t child = fork();
    if (child == 0) _exit(3);
    int status;
    assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return unused;
}
static void forks(void) { each(2, make_child); }

static atomic_int signals;
static void handler(int s) { atomic_fetch_add(&signals, s == SIGUSR1); }
static void *raise_it(void *unused) {
    raise(SIGUSR1);
    return unused;
}
static void signalling(void) {
    signal(SIGUSR1, handler);
    each(2, raise_it);
    pthread_t t;
    ready = 0;
    pthread_create(&t, NULL, wait_ready, NULL);
    pthread_kill(t, SIGUSR1);
    make_ready(NULL);
    pthread_join(t, NULL);
    assert(signals == 3);
}

static int ends[2];
static void *send_byte(void *unused) {
    assert(write(ends[1], "x", 1) == 1);
    return unused;
}
static void *receive(void *unused) {
    char byte;
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    return unused;
}
static void *end_of_pipe(void *i) { return i ? send_byte(NULL) : receive(NULL); }
static void pipes(void) {
    assert(pipe(ends) == 0);
    each(2, end_of_pipe);
    close(ends[0]);
    close(ends[1]);
}

static void *many(void *i) {
    char *block = malloc(100 + (long)i);
    memset(block, 1, 100);
    free(block);
    return NULL;
}
static void crowds(void) {
    for (int i = 0; i < 3; i++) each(40, many);
}

static void *nested(void *depth) {
    if ((long)depth > 0) {
        pthread_t t;
        pthread_create(&t, NULL, nested, (void *)((long)depth - 1));
        pthread_join(t, NULL);
    }
    return NULL;
}
static void nests(void) { each(2, (void *(*)(void *))nested); }

static void *ordered(void *i) {
    usleep(1000 * (unsigned)(3 - (long)i));
    pthread_mutex_lock(&mutex);
    slots[counter++] = (int)(long)i;
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void sleeps(void) {
    each(3, ordered);
    assert(slots[0] == 2 && slots[1] == 1 && slots[2] == 0);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"mutexes", mutexes}, {"held", held_before_threads}, {"conditions", conditions},
        {"timeouts", timeouts}, {"rwlocks", rwlocks}, {"barriers", barriers}, {"semaphores", semaphores},
        {"spinlocks", spinlocks}, {"onces", onces}, {"storage", storage}, {"detach", detach}, {"exits", exits},
        {"forks", forks}, {"signals", signalling}, {"pipes", pipes}, {"crowds", crowds}, {"nests", nests},
        {"sleeps", sleeps}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2) puts(cases[i].name);
        else if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run(), 0;
    }
    return argc < 2 ? 0 : 9;
}
