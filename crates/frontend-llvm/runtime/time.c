// defines: time clock difftime clock_getres timespec_get times localtime gmtime localtime_r gmtime_r mktime strftime
// Time (C17 7.27), from the clock of the thread, which stands still but in waits that end at their deadline.
#include <stddef.h>
#include <time.h>

#define PART __attribute__((weak))

extern void __porf_unsupported(const char *what);

PART time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}

PART clock_t clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    // Since the program began.
    return (now.tv_sec - 1000000000) * CLOCKS_PER_SEC + now.tv_nsec / 1000;
}

PART double difftime(time_t later, time_t earlier) { return (double)(later - earlier); }

PART int clock_getres(clockid_t which, struct timespec *resolution) {
    if (resolution)
        *resolution = (struct timespec){0, 1};
    return 0;
}

PART int timespec_get(struct timespec *now, int base) {
    clock_gettime(CLOCK_REALTIME, now);
    return base;
}

static struct tm *no_calendar(void) {
    __porf_unsupported("the calendar (localtime, gmtime, mktime, strftime)");
    return 0;
}
PART struct tm *localtime(const time_t *time) { return no_calendar(); }
PART struct tm *gmtime(const time_t *time) { return no_calendar(); }
PART struct tm *localtime_r(const time_t *time, struct tm *to) { return no_calendar(); }
PART struct tm *gmtime_r(const time_t *time, struct tm *to) { return no_calendar(); }
PART time_t mktime(struct tm *time) { return no_calendar() != 0; }
PART size_t strftime(char *to, size_t size, const char *format, const struct tm *time) { return no_calendar() != 0; }
