// POSIX threads, one case per argument: each returns 0 natively and must do so under the sampler.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
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

static void wait_readable(int how, int fd) {
    if (how == 0) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(fd, &set);
        assert(select(fd + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(fd, &set));
    } else if (how == 1) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert(poll(&p, 1, -1) == 1 && p.revents == POLLIN);
    } else if (how == 2) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        struct timespec const long_enough = {.tv_sec = 1000};
        assert(ppoll(&p, 1, &long_enough, NULL) == 1);
    } else {
        int const e = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        assert(epoll_ctl(e, EPOLL_CTL_ADD, fd, &event) == 0);
        memset(&event, 0, sizeof event);
        assert(epoll_wait(e, &event, 1, -1) == 1 && event.data.fd == fd);
        close(e);
    }
}
static int pairs[4][2], bell;
static void *selecting(void *i) {
    char byte;
    if ((long)i < 4) {
        wait_readable((int)(long)i, pairs[(long)i][0]);
        assert(recv(pairs[(long)i][0], &byte, 1, 0) == 1);
        eventfd_write(bell, 1);
    } else {
        for (int k = 3; k >= 0; k--) assert(send(pairs[k][1], "x", 1, 0) == 1);
        eventfd_t rung, sum = 0;
        while (sum < 4) {
            assert(eventfd_read(bell, &rung) == 0);
            sum += rung;
        }
    }
    return NULL;
}
static void selects(void) {
    bell = eventfd(0, 0);
    for (int k = 0; k < 4; k++) assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[k]) == 0);
    each(5, selecting);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pairs[0][0], &set);
    struct timeval soon = {.tv_usec = 1000};
    assert(select(pairs[0][0] + 1, &set, NULL, NULL, &soon) == 0 && !FD_ISSET(pairs[0][0], &set));
    for (int k = 0; k < 4; k++) close(pairs[k][0]), close(pairs[k][1]);
    close(bell);
}

static atomic_int usr1_calls, usr2_calls;
static void count_usr(int s) { atomic_fetch_add(s == SIGUSR1 ? &usr1_calls : &usr2_calls, 1); }
static void *masked(void *unused) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    assert(!sigismember(&old, SIGUSR1));
    pthread_barrier_wait(&barrier);
    int s;
    assert(sigwait(&set, &s) == 0 && s == SIGUSR1);
    assert(atomic_load(&usr1_calls) == 0);
    return unused;
}
static void *unmasked(void *unused) {
    sigset_t now;
    pthread_barrier_wait(&barrier);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert(!sigismember(&now, SIGUSR1));
    return unused;
}
static void masks(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 3);
    signal(SIGUSR1, count_usr);
    signal(SIGUSR2, count_usr);
    pthread_create(&a, NULL, masked, NULL);
    pthread_create(&b, NULL, unmasked, NULL);
    pthread_barrier_wait(&barrier);
    pthread_kill(a, SIGUSR1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    // Blocked, pending, then delivered.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    assert(usr2_calls == 0);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    assert(usr2_calls == 1 && usr1_calls == 0);
}

static char *before;
static void *mapping(void *i) {
    for (int k = 0; k < 3; k++) {
        char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert(page != MAP_FAILED && page[0] == 0 && page[8191] == 0);
        memset(page, 1 + (int)(long)i, 8192);
        sched_yield();
        assert(page[100] == 1 + (long)i);
        page = mremap(page, 8192, 16384, MREMAP_MAYMOVE);
        assert(page != MAP_FAILED && page[8191] == 1 + (long)i && page[8192] == 0);
        if (k < 2) assert(munmap(page, 16384) == 0);
    }
    return NULL;
}
static void maps(void) {
    before = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    before[0] = 5;
    each(3, mapping);
    assert(before[0] == 5);
    before[0] = 6;
    assert(munmap(before, 4096) == 0);
}

// What an execution leaves behind must not reach the next: descriptors, mappings, memory, handlers.
static long lines_of(const char *path) {
    long lines = 0;
    char text[4096];
    int const fd = open(path, O_RDONLY);
    for (ssize_t n; (n = read(fd, text, sizeof text)) > 0;)
        for (ssize_t k = 0; k < n; k++) lines += text[k] == '\n';
    close(fd);
    return lines;
}
static long resident(void) {
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    return pages * 4096;
}
static void *litter(void *unused) {
    char *block = malloc(100000);
    memset(block, 1, 100000);
    assert(open("/dev/null", O_RDONLY) < 20);
    assert(dup(0) < 20);
    memset(mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 1 << 17);
    signal(SIGUSR1, handler);
    return unused;
}
static void leaks(void) {
    struct sigaction action;
    sigaction(SIGUSR1, NULL, &action);
    each(3, litter);
    assert(action.sa_handler == SIG_DFL);
    assert(resident() < 64 << 20);
    assert(lines_of("/proc/self/maps") < 300);
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
    // Far enough apart for a machine with other work; in the sampler time is virtual.
    usleep(100000 * (unsigned)(3 - (long)i));
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
        {"sleeps", sleeps}, {"selects", selects}, {"masks", masks}, {"maps", maps}, {"leaks", leaks}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2) puts(cases[i].name);
        else if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run(), 0;
    }
    return argc < 2 ? 0 : 9;
}
