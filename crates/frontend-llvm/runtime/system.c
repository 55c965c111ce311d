// defines: getpid getppid getuid geteuid getgid getegid sysconf getpagesize get_nprocs get_nprocs_conf sched_getcpu
// defines: sched_setaffinity pthread_setaffinity_np pthread_getaffinity_np pthread_attr_setaffinity_np
// defines: sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min setpriority
// defines: pthread_attr_getdetachstate pthread_attr_getstacksize pthread_attr_setschedpolicy
// defines: pthread_attr_setinheritsched pthread_attr_setschedparam pthread_attr_setguardsize pthread_attr_setstack
// defines: pthread_mutexattr_gettype pthread_mutexattr_setpshared pthread_mutexattr_setprotocol pthread_mutexattr_setrobust
// defines: pthread_mutexattr_setprioceiling pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared
// defines: pthread_condattr_setpshared pthread_barrierattr_setpshared pthread_setschedparam pthread_getschedparam
// defines: pthread_setschedprio pthread_getname_np pthread_atfork getrlimit setrlimit getrusage isatty umask mlockall
// defines: munlockall mlock munlock madvise getopt optind optarg opterr optopt setlocale sync malloc_usable_size
// defines: err errx warn warnx error getcwd
// The system that a program under verification finds: two processors, one process, limits that never bite.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PART __attribute__((weak))
#define NOTHING(name, ...)                                                                                            \
    PART int name(__VA_ARGS__) { return 0; }

enum { PROCESSORS = 2, PAGE = 4096 };

extern void __porf_unsupported(const char *what);

PART pid_t getpid(void) { return 1000; }
PART pid_t getppid(void) { return 999; }
PART uid_t getuid(void) { return 1000; }
PART uid_t geteuid(void) { return 1000; }
PART gid_t getgid(void) { return 1000; }
PART gid_t getegid(void) { return 1000; }

PART long sysconf(int name) {
    switch (name) {
    case _SC_PAGESIZE:
        return PAGE;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return PROCESSORS;
    case _SC_CLK_TCK:
        return 100;
    case _SC_LEVEL1_DCACHE_LINESIZE:
        return 64;
    case _SC_OPEN_MAX:
        return 1024;
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
        return 1 << 20;
    }
    return -1;
}
PART int getpagesize(void) { return PAGE; }
PART int get_nprocs(void) { return PROCESSORS; }
PART int get_nprocs_conf(void) { return PROCESSORS; }
PART int sched_getcpu(void) { return 0; }

NOTHING(sched_setaffinity, pid_t p, size_t n, const cpu_set_t *s)
NOTHING(pthread_setaffinity_np, pthread_t t, size_t n, const cpu_set_t *s)
NOTHING(pthread_attr_setaffinity_np, pthread_attr_t *a, size_t n, const cpu_set_t *s)
PART int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) {
    memset(set, 0, size);
    for (int i = 0; i < PROCESSORS; i++)
        CPU_SET(i, set);
    return 0;
}
NOTHING(sched_setscheduler, pid_t p, int policy, const struct sched_param *s)
NOTHING(sched_getscheduler, pid_t p)
NOTHING(sched_get_priority_min, int policy)
NOTHING(sched_get_priority_max, int policy)
NOTHING(setpriority, __priority_which_t which, id_t who, int value)

// An attribute is not looked at: each has its default.
PART int pthread_attr_getdetachstate(const pthread_attr_t *attribute, int *state) {
    *state = PTHREAD_CREATE_JOINABLE;
    return 0;
}
PART int pthread_attr_getstacksize(const pthread_attr_t *attribute, size_t *size) {
    *size = 8 << 20;
    return 0;
}
NOTHING(pthread_attr_setschedpolicy, pthread_attr_t *a, int v)
NOTHING(pthread_attr_setinheritsched, pthread_attr_t *a, int v)
NOTHING(pthread_attr_setschedparam, pthread_attr_t *a, const struct sched_param *v)
NOTHING(pthread_attr_setguardsize, pthread_attr_t *a, size_t v)
NOTHING(pthread_attr_setstack, pthread_attr_t *a, void *s, size_t v)
NOTHING(pthread_mutexattr_setpshared, pthread_mutexattr_t *a, int v)
NOTHING(pthread_mutexattr_setprotocol, pthread_mutexattr_t *a, int v)
NOTHING(pthread_mutexattr_setprioceiling, pthread_mutexattr_t *a, int v)
PART int pthread_mutexattr_gettype(const pthread_mutexattr_t *attribute, int *type) {
    *type = *(const int *)attribute;
    return 0;
}
PART int pthread_mutexattr_setrobust(pthread_mutexattr_t *attribute, int robust) {
    if (robust != PTHREAD_MUTEX_STALLED)
        __porf_unsupported("a robust mutex");
    return 0;
}
NOTHING(pthread_rwlockattr_setkind_np, pthread_rwlockattr_t *a, int v)
NOTHING(pthread_rwlockattr_setpshared, pthread_rwlockattr_t *a, int v)
NOTHING(pthread_condattr_setpshared, pthread_condattr_t *a, int v)
NOTHING(pthread_barrierattr_setpshared, pthread_barrierattr_t *a, int v)
NOTHING(pthread_setschedparam, pthread_t t, int policy, const struct sched_param *s)
NOTHING(pthread_setschedprio, pthread_t t, int v)
PART int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *parameter) {
    *policy = SCHED_OTHER;
    parameter->sched_priority = 0;
    return 0;
}
PART int pthread_getname_np(pthread_t thread, char *name, size_t size) {
    if (size > 0)
        *name = 0;
    return 0;
}
// There is no fork.
NOTHING(pthread_atfork, void (*prepare)(void), void (*parent)(void), void (*child)(void))

PART int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
    limit->rlim_cur = limit->rlim_max = RLIM_INFINITY;
    return 0;
}
NOTHING(setrlimit, __rlimit_resource_t resource, const struct rlimit *limit)
PART int getrusage(__rusage_who_t who, struct rusage *usage) {
    memset(usage, 0, sizeof *usage);
    return 0;
}
NOTHING(isatty, int file)
PART mode_t umask(mode_t mask) { return 022; }
NOTHING(mlockall, int flags)
NOTHING(munlockall, void)
NOTHING(mlock, const void *p, size_t n)
NOTHING(munlock, const void *p, size_t n)
NOTHING(madvise, void *p, size_t n, int advice)
PART void sync(void) {}
PART char *setlocale(int category, const char *locale) { return "C"; }
PART size_t malloc_usable_size(void *object) {
    __porf_unsupported("malloc_usable_size");
    return 0;
}

// The options of the command line, one letter each (POSIX).
PART int optind = 1, opterr = 1, optopt;
PART char *optarg;
PART int getopt(int count, char *const *arguments, const char *known) {
    static int place;
    if (optind >= count || arguments[optind][0] != '-' || !arguments[optind][1])
        return -1;
    if (arguments[optind][1] == '-' && !arguments[optind][2]) {
        optind++;
        return -1;
    }
    int letter = arguments[optind][++place];
    const char *found = strchr(known, letter);
    int is_last = !arguments[optind][place + 1];
    if (letter != ':' && found && found[1] == ':') {
        optarg = is_last ? (optind + 1 < count ? arguments[++optind] : 0) : (char *)&arguments[optind][place + 1];
        is_last = 1;
        if (!optarg)
            found = 0;
    }
    if (is_last) {
        optind++;
        place = 0;
    }
    optopt = letter;
    return letter != ':' && found ? letter : '?';
}

PART void err(int code, const char *format, ...) { exit(code); }
PART void errx(int code, const char *format, ...) { exit(code); }
PART void warn(const char *format, ...) {}
PART void warnx(const char *format, ...) {}
PART void error(int code, int number, const char *format, ...) {
    if (code)
        exit(code);
}

PART char *getcwd(char *to, size_t size) {
    if (!to || size < 2)
        return 0;
    return strcpy(to, "/");
}
