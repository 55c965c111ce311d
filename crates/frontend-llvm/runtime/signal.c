// defines: signal __sysv_signal bsd_signal sigaction raise kill pthread_kill sigemptyset sigfillset sigaddset sigdelset
// defines: sigismember sigprocmask pthread_sigmask sigpending
// Signals that a thread sends to itself (C17 7.14, POSIX): the handler runs at once, or when the thread unblocks the
// signal. Nobody outside sends any.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define PART __attribute__((weak))
enum { SIGNALS = 65 };

extern void __porf_unsupported(const char *what);

static struct sigaction actions[SIGNALS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread unsigned long blocked, waiting;

static int is_signal(int number) { return number > 0 && number < SIGNALS; }

static void deliver(int number) {
    pthread_mutex_lock(&lock);
    struct sigaction action = actions[number];
    if (action.sa_flags & SA_RESETHAND)
        actions[number].sa_handler = SIG_DFL;
    pthread_mutex_unlock(&lock);
    if (action.sa_handler == SIG_IGN)
        return;
    if (action.sa_handler == SIG_DFL) {
        if (number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT)
            return;
        if (number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGKILL || number == SIGQUIT)
            _exit(128 + number);
        abort();
    }
    unsigned long before = blocked;
    blocked |= action.sa_mask.__val[0] | (action.sa_flags & SA_NODEFER ? 0 : 1ul << (number - 1));
    if (action.sa_flags & SA_SIGINFO) {
        siginfo_t info = {0};
        info.si_signo = number;
        action.sa_sigaction(number, &info, 0);
    } else {
        action.sa_handler(number);
    }
    blocked = before;
}

static void deliver_waiting(void) {
    while (waiting & ~blocked) {
        int number = __builtin_ctzl(waiting & ~blocked) + 1;
        waiting &= ~(1ul << (number - 1));
        deliver(number);
    }
}

PART int raise(int number) {
    if (number == 0)
        return 0;
    if (!is_signal(number)) {
        errno = EINVAL;
        return -1;
    }
    waiting |= 1ul << (number - 1);
    deliver_waiting();
    return 0;
}

PART int kill(pid_t process, int number) {
    if (process != getpid() && process != 0) {
        errno = ESRCH;
        return -1;
    }
    return raise(number);
}

PART int pthread_kill(pthread_t thread, int number) {
    if (number != 0 && !pthread_equal(thread, pthread_self()))
        __porf_unsupported("a signal to another thread (pthread_kill)");
    return raise(number);
}

PART int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
    if (!is_signal(number) || ((number == SIGKILL || number == SIGSTOP) && new)) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&lock);
    if (old)
        *old = actions[number];
    if (new)
        actions[number] = *new;
    pthread_mutex_unlock(&lock);
    return 0;
}

PART __sighandler_t signal(int number, __sighandler_t handler) {
    struct sigaction new = {0}, old;
    new.sa_handler = handler;
    return sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}
PART __sighandler_t bsd_signal(int number, __sighandler_t handler) { return signal(number, handler); }
PART __sighandler_t __sysv_signal(int number, __sighandler_t handler) {
    struct sigaction new = {0}, old;
    new.sa_handler = handler;
    new.sa_flags = SA_RESETHAND | SA_NODEFER;
    return sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// 64 signals: the first word of a set.
PART int sigemptyset(sigset_t *set) {
    *set = (sigset_t){0};
    return 0;
}
PART int sigfillset(sigset_t *set) {
    *set = (sigset_t){0};
    set->__val[0] = ~0ul;
    return 0;
}
PART int sigaddset(sigset_t *set, int number) {
    set->__val[0] |= 1ul << (number - 1);
    return 0;
}
PART int sigdelset(sigset_t *set, int number) {
    set->__val[0] &= ~(1ul << (number - 1));
    return 0;
}
PART int sigismember(const sigset_t *set, int number) { return set->__val[0] >> (number - 1) & 1; }

PART int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    if (old) {
        *old = (sigset_t){0};
        old->__val[0] = blocked;
    }
    if (set) {
        unsigned long bits = set->__val[0];
        blocked = how == SIG_BLOCK ? blocked | bits : how == SIG_UNBLOCK ? blocked & ~bits : bits;
        deliver_waiting();
    }
    return 0;
}
PART int sigprocmask(int how, const sigset_t *set, sigset_t *old) { return pthread_sigmask(how, set, old); }
PART int sigpending(sigset_t *set) {
    *set = (sigset_t){0};
    set->__val[0] = waiting;
    return 0;
}
