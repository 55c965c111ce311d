#include <stdarg.h>
#include <stdio.h>
struct s { long a, b, c; };
static int sum(int n, ...) { va_list ap; va_start(ap, n); int s = 0; for (int i = 0; i < n; i++) s += va_arg(ap, int); va_end(ap); return s; }
static double mix(const char *f, ...) { va_list ap, cp; va_start(ap, f); va_copy(cp, ap); double r = 0; for (; *f; f++) switch (*f) { case 'd': r += va_arg(ap, int); break; case 'f': r += va_arg(ap, double); break; case 'l': r += va_arg(ap, long); break; case 's': { struct s x = va_arg(ap, struct s); r += x.a + x.b * 10 + x.c * 100; break; } }
    r += va_arg(cp, int) * 1000; va_end(ap); va_end(cp); return r; }
static void say(const char *f, ...) { va_list ap; va_start(ap, f); vprintf(f, ap); va_end(ap); }
static int pick(int n, va_list ap) { int r = 0; while (n--) r = va_arg(ap, int); return r; }
static int outer(int n, ...) { va_list ap; va_start(ap, n); int r = pick(n, ap); va_end(ap); return r; }
int main(void) {
    printf("%d %d\n", sum(3, 1, 2, 3), sum(10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    struct s x = {1, 2, 3};
    printf("%g\n", mix("dflsd", 4, 2.5, 100L, x, 7));
    say("%s-%d-%c-%5.2f-%x\n", "str", -4, 'z', 3.14159, 255);
    printf("%d\n", outer(4, 9, 8, 7, 6));
    printf("%5d|%-5d|%05d|%+d|% d|%x|%#o|%e|%10.3s|%p\n", 1, 2, 3, 4, 5, 6, 7, 8.0, "abcdef", (void *)0);
    int (*f)(int, ...) = sum; printf("%d\n", f(2, 40, 2));
    return 0;
}
