// defines: pthread_cancel pthread_testcancel pthread_setcancelstate pthread_setcanceltype __porf_cleanup_push
// defines: __porf_cleanup_pop
// Cancellation (POSIX 2.9.5), deferred: it takes effect in `pthread_testcancel` and in `sleep` and its relatives.
// Other functions that wait and are cancellation points are refused in a program that cancels threads. The handlers
// of `pthread_cleanup_push` run in `pthread_exit` too; porf's own <pthread.h> makes a list of them.
#define PORF_PART
#include <errno.h>
#include <pthread.h>

#define PART __attribute__((weak))
enum { THREADS = 128 };

extern void __porf_unsupported(const char *what);
extern void __porf_exit_thread(void *result);

struct __porf_cleanup {
    void (*routine)(void *);
    void *argument;
    struct __porf_cleanup *before;
};

static _Atomic char cancelled[THREADS];
static __thread int disabled;
static __thread struct __porf_cleanup *handlers;

PART void __porf_cleanup_push(struct __porf_cleanup *handler) {
    handler->before = handlers;
    handlers = handler;
}
PART void __porf_cleanup_pop(struct __porf_cleanup *handler) { handlers = handler->before; }

// What `pthread_exit` calls.
void __porf_run_cleanup(void) {
    while (handlers) {
        struct __porf_cleanup *handler = handlers;
        handlers = handler->before;
        handler->routine(handler->argument);
    }
}

PART int pthread_cancel(pthread_t thread) {
    if (thread >= THREADS)
        return ESRCH;
    cancelled[thread] = 1;
    return 0;
}

PART void pthread_testcancel(void) {
    if (!disabled && cancelled[pthread_self()]) {
        disabled = 1;
        __porf_run_cleanup();
        __porf_exit_thread(PTHREAD_CANCELED);
    }
}

PART int pthread_setcancelstate(int state, int *old) {
    if (old)
        *old = disabled;
    disabled = state;
    return 0;
}

PART int pthread_setcanceltype(int type, int *old) {
    if (type != PTHREAD_CANCEL_DEFERRED)
        __porf_unsupported("asynchronous cancellation");
    if (old)
        *old = PTHREAD_CANCEL_DEFERRED;
    return 0;
}

// Points where a thread waits for nobody. Time stands still.
PART unsigned sleep(unsigned seconds) {
    pthread_testcancel();
    return 0;
}
PART int usleep(unsigned microseconds) {
    pthread_testcancel();
    return 0;
}
PART int nanosleep(const struct timespec *time, struct timespec *rest) {
    pthread_testcancel();
    return 0;
}
