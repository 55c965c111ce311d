// What the parts of the C library give, beside the machine's own.
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_text(const void *a, const void *b, void *with) {
    return strcmp(((const char *)a), ((const char *)b)) * *(int *)with;
}

static void numbers(void) {
    const char *texts[] = {"12", "-12x", " +7", "0x1f", "017", "zz", "", "99999999999999999999", "-99999999999999999999",
                           "-", "0x", "9223372036854775807", "-9223372036854775808", "08"};
    const int bases[] = {0, 8, 10, 16, 36};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        for (unsigned k = 0; k < sizeof bases / sizeof *bases; k++) {
            char *end;
            errno = 0;
            long value = strtol(texts[i], &end, bases[k]);
            printf("%ld %d %d ", value, (int)(end - texts[i]), errno == ERANGE);
            errno = 0;
            unsigned long positive = strtoul(texts[i], &end, bases[k]);
            printf("%lu %d %d\n", positive, (int)(end - texts[i]), errno == ERANGE);
        }
    printf("%d %ld %lld\n", atoi("42 "), atol("-3"), atoll("x"));
    int (*first_bit)(long) = ffsl, (*first_of_long)(long long) = ffsll;
    printf("%d %d %d\n", first_bit(0), first_bit(LONG_MIN), first_of_long(40));
    const char *reals[] = {"1.5", "-0.25e2", "3", ".5", "1e-3", "2.", "x", "1e5z", "123456.789"};
    for (unsigned i = 0; i < sizeof reals / sizeof *reals; i++) {
        char *end;
        double value = strtod(reals[i], &end);
        printf("%.17g %d\n", value, (int)(end - reals[i]));
    }
    div_t d = div(-7, 2);
    printf("%d %d %ld\n", d.quot, d.rem, ldiv(9, 4).rem);
}

static void texts(void) {
    char buffer[32];
    memset(buffer, 'x', sizeof buffer);
    strncpy(buffer, "abc", 8);
    printf("%s %d %d\n", buffer, buffer[7], buffer[8]);
    strncat(buffer, "defgh", 3);
    puts(buffer);
    puts(strstr("hello world", "o w"));
    printf("%d %d\n", strstr("abc", "abcd") == 0, strstr("abc", "") != 0);
    puts(strrchr("a/b/c", '/'));
    printf("%d %d\n", (int)strspn("aabbc", "ab"), (int)strcspn("aabbc", "c"));
    puts(strpbrk("key=value", "=:"));
    char list[] = ",a,,b;c,", *rest;
    for (char *at = strtok_r(list, ",;", &rest); at; at = strtok_r(0, ",;", &rest))
        printf("[%s]", at);
    char fields[] = "x::y", *at = fields;
    for (char *field; (field = strsep(&at, ":"));)
        printf("(%s)", field);
    char *copy = strndup("hello", 2);
    printf("%s %s\n", copy, strdup("d"));
    free(copy);
    printf("%d %d %d\n", strcasecmp("AbC", "aBc"), strncasecmp("abX", "aby", 2), strcasecmp("a", "B") < 0);
    printf("%d\n", (int)(stpcpy(buffer, "xyz") - buffer));
    printf("%s %d\n", (char *)memchr("abcd", 'c', 4), memchr("abcd", 'z', 4) == 0);
    printf("%s %s\n", (char *)memrchr("abca", 'a', 4), (char *)memmem("hello", 5, "ll", 2));
    printf("%d\n", (int)((char *)mempcpy(buffer, "12", 2) - buffer));
    bzero(buffer, 4);
    printf("%d %s %d\n", buffer[0], strchrnul("abc", 'z') + 0, ffs(40));
    printf("%s\n", strcasestr("Hello World", "WORLD"));
}

static void characters(void) {
    for (int c = -1; c < 256; c++)
        printf("%d%d%d%d%d%d%d%d%d%d%d%d %d %d\n", !!isalpha(c), !!isdigit(c), !!isalnum(c), !!isspace(c), !!isupper(c),
               !!islower(c), !!isprint(c), !!ispunct(c), !!isxdigit(c), !!iscntrl(c), !!isgraph(c), !!isblank(c),
               toupper(c), tolower(c));
    printf("%d\n", (isdigit)('7') != 0 && (toupper)('q') == 'Q');
}

static void sorting(void) {
    int values[] = {5, 3, 9, -1, 3, 7};
    qsort(values, 6, sizeof *values, ascending);
    for (int i = 0; i < 6; i++)
        printf("%d ", values[i]);
    int key = 7, none = 8;
    int *found = bsearch(&key, values, 6, sizeof *values, ascending);
    printf("%d %d\n", (int)(found - values), bsearch(&none, values, 6, sizeof *values, ascending) == 0);
    char names[3][8] = {"bb", "a", "cc"};
    int down = -1;
    qsort_r(names, 3, 8, by_text, &down);
    printf("%s %s %s\n", names[0], names[1], names[2]);
}

static void scanning(void) {
    int a = 0, b = 0, n = 0;
    char word[8] = "", c = 0;
    double d = 0;
    long l = 0;
    printf("%d %d %d %s\n", sscanf(" 12 -34 abc", "%d %d %7s", &a, &b, word), a, b, word);
    printf("%d %x %ld %c\n", sscanf("ff,77:q", "%x,%ld:%c", (unsigned *)&a, &l, &c), a, l, c);
    printf("%d %g %d\n", sscanf("2.5 rest", "%lf%n", &d, &n), d, n);
    printf("%d %d\n", sscanf("x", "%d", &a), sscanf("", "%d", &a));
    printf("%d %d %d\n", sscanf("12345", "%2d%3d", &a, &b), a, b);
    printf("%d %d\n", sscanf("5 6", "%*d %d", &a), a);
    char first[16], second[16];
    printf("%d %s %s\n", sscanf("key = value;", "%15[a-z] = %15[^;]", first, second), first, second);
    printf("%d %s\n", sscanf("]-x", "%3[]-]", first), first);
    printf("%d %d\n", sscanf(" a", "%[a-z]", first), sscanf("", "%[a-z]", first));
    printf("%d %s\n", sscanf("12ab", "%*[0-9]%2[a-f]", second), second);
    char *made;
    printf("%d %s\n", asprintf(&made, "%d-%s", 7, "x"), made);
    free(made);
}

static volatile sig_atomic_t seen, nested;
static void handler(int number) {
    seen = seen * 10 + 1;
    if (!nested++) {
        raise(number);
        seen = seen * 10 + 2;
    }
}

static void signals(void) {
    printf("%d\n", signal(SIGUSR1, handler) == SIG_DFL);
    printf("%d %d\n", raise(SIGUSR1), (int)seen);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &old);
    seen = 0;
    raise(SIGUSR1);
    printf("%d %d\n", (int)seen, sigismember(&set, SIGUSR1));
    sigprocmask(SIG_SETMASK, &old, 0);
    printf("%d\n", (int)seen);
    struct sigaction action = {0}, before;
    action.sa_handler = SIG_IGN;
    sigaction(SIGUSR1, &action, &before);
    printf("%d %d\n", before.sa_handler == handler, raise(SIGUSR1));
    kill(getpid(), SIGUSR1);
}

static void memory(void) {
    int *block = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d %d\n", block != MAP_FAILED, block[1023]);
    block[3] = 9;
    printf("%d %d\n", block[3], munmap(block, 4096));
    printf("%ld %d\n", sysconf(_SC_PAGESIZE), getpagesize());
    printf("%g\n", difftime(5, 3));
    printf("%d\n", fopen("/no/such/file", "r") == 0);
}

int main(int argc, char **argv) {
    numbers();
    texts();
    characters();
    sorting();
    scanning();
    signals();
    memory();
    printf("%d %d\n", argc, getopt(argc, argv, "ab:"));
    return 0;
}
