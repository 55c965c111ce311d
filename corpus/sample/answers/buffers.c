// The C library reads and writes on behalf of its caller: each case is one function, called while
// another thread writes to the buffer. Called without a case, the program lists them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char shared[64] = "shared memory";
static char mine[64] = "shared memory";
static int ends[2], sockets[2];
static FILE *null;

static int order(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }

#define CASE(name, ...) \
    static void case_##name(void) { __VA_ARGS__; __asm__ volatile("" ::: "memory"); }
#define CASES \
    X(strlen, mine[0] = (char)strlen(shared)) \
    X(strnlen, mine[0] = (char)strnlen(shared, 9)) \
    X(strcpy, strcpy(shared, mine)) \
    X(strncpy, strncpy(shared, mine, 5)) \
    X(stpcpy, stpcpy(shared, mine)) \
    X(strcat, strcat(mine + 32, shared)) \
    X(strncat, strncat(mine + 32, shared, 4)) \
    X(strcmp, mine[1] = (char)strcmp(shared, mine)) \
    X(strncmp, mine[1] = (char)strncmp(shared, mine, 4)) \
    X(strcasecmp, mine[1] = (char)strcasecmp(shared, mine)) \
    X(strchr, if (!strchr(shared, 'q')) mine[2] = 1) \
    X(strrchr, if (!strrchr(shared, 'q')) mine[2] = 1) \
    X(strstr, if (!strstr(shared, "qq")) mine[2] = 1) \
    X(strspn, mine[2] = (char)strspn(shared, "s")) \
    X(strdup, char *copy = strdup(shared); mine[5] = copy[0]; free(copy)) \
    X(memcmp, mine[1] = (char)memcmp(shared, mine, 8)) \
    X(memchr, if (memchr(shared, 'q', 8)) mine[2] = 1) \
    X(memcpy, memcpy(mine + 1, shared, 9)) \
    X(memset, memset(shared, 'a', 9)) \
    X(memmove, memmove(shared + 1, shared, 9)) \
    X(read, if (read(ends[0], shared, 8) != 8) abort()) \
    X(write, if (write(ends[1], shared, 8) != 8) abort()) \
    X(readv, struct iovec part = {shared, 8}; if (readv(ends[0], &part, 1) != 8) abort()) \
    X(writev, struct iovec part = {shared, 8}; if (writev(ends[1], &part, 1) != 8) abort()) \
    X(send, if (send(sockets[0], shared, 8, 0) != 8) abort()) \
    X(recv, if (recv(sockets[1], shared, 8, 0) != 8) abort()) \
    X(puts, fputs(shared, null)) \
    X(fwrite, fwrite(shared, 1, 8, null)) \
    X(fread, FILE *zero = fopen("/dev/zero", "r"); if (fread(shared, 1, 8, zero) != 8) abort()) \
    X(fgets, FILE *file = fdopen(ends[0], "r"); if (!fgets(shared, 8, file)) abort()) \
    X(snprintf, snprintf(shared, 20, "%d", 123456)) \
    X(sprintf, sprintf(shared, "%d", 123456)) \
    X(qsort, qsort(shared, 13, 1, order)) \
    X(strerror_r, if (strerror_r(9999, shared, 60)) mine[3] = 1) \
    X(getcwd, if (!getcwd(shared, 60)) mine[3] = 1) \
    X(stat, struct stat status; if (!stat(shared, &status)) mine[3] = 1) \
    X(open, FILE *file = fopen(shared, "r"); if (file) fclose(file)) \
    X(fprintf, fprintf(null, "%d %g %*d %s", 1, 2.0, 3, 4, shared)) \
    X(precision, fprintf(null, "%d%d%d%d%d%d %.4s", 1, 2, 3, 4, 5, 6, shared)) \
    X(asprintf, char *text; if (asprintf(&text, "%-20s", shared) < 0) abort()) \
    X(printed_count, snprintf(mine + 20, 30, "%s%n", "text", (int *)shared)) \
    X(sscanf, sscanf("17 word", "%*d %s", shared)) \
    X(sscanf_number, sscanf("1 17", "%d %ld", (int *)mine, (long *)shared)) \
    X(sscanf_set, sscanf("abc]", "%[]a-c]", shared)) \
    X(strtol, mine[4] = (char)strtol(shared, 0, 10)) \
    X(atoi, mine[4] = (char)atoi(shared)) \
    X(getline, static char *line; static size_t room; line = malloc(64); room = 64; \
        FILE *file = fopen("/proc/self/status", "r"); if (getline(&line, &room, file) < 0 || fread(shared, 1, 8, file) != 8) abort()) \
    X(clock_gettime, clock_gettime(CLOCK_REALTIME, (struct timespec *)shared)) \
    X(inet_ntop, if (!inet_ntop(AF_INET, mine, shared, 20)) abort()) \
    X(strftime, time_t now = 0; struct tm parts; gmtime_r(&now, &parts); strftime(shared, 30, "%Y", &parts)) \
    X(readlink, if (readlink("/proc/self/exe", shared, 20) < 0) abort())

#define X(name, ...) CASE(name, __VA_ARGS__)
CASES
#undef X

#define X(name, ...) {#name, case_##name},
static const struct { const char *name; void (*run)(void); } cases[] = {CASES};
#undef X

static void *run(void *argument) {
    ((void (*)(void))argument)();
    return 0;
}

int main(int count, char **arguments) {
    pthread_t thread;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count < 2 || !strcmp(arguments[1], "-")) {
            puts(cases[i].name);
        } else if (!strcmp(arguments[1], cases[i].name)) {
            null = fopen("/dev/null", "w");
            if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return 1;
            if (write(ends[1], "12345678", 8) != 8 || write(sockets[0], "12345678", 8) != 8) return 1;
            pthread_create(&thread, 0, run, (void *)cases[i].run);
            shared[3] = 'x';
            pthread_join(thread, 0);
            return 0;
        }
    }
    return 0;
}
