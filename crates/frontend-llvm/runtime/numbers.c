// defines: strtol strtoll strtoimax strtoul strtoull strtoumax atoi atol atoll strtod strtof atof
// defines: __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull div ldiv lldiv
// defines: ffsl ffsll srandom srand48 lrand48 nrand48 mrand48
// Numbers from text (C17 7.22.1). The value of a decimal fraction is exact where its digits and its power of ten
// are numbers of type double themselves; longer ones are refused.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define PART __attribute__((weak))

extern void __porf_unsupported(const char *what);

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

// The magnitude, at most `limit` (the rest is an overflow), and the sign.
static unsigned long magnitude(const char *text, char **end, int base, int *negative, int *overflow) {
    const char *at = text;
    unsigned long value = 0;
    int any = 0;
    *negative = *overflow = 0;
    while (is_space(*at))
        at++;
    if (*at == '+' || *at == '-')
        *negative = *at++ == '-';
    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && digit(at[2]) < 16) {
        at += 2;
        base = 16;
    }
    if (base == 0)
        base = *at == '0' ? 8 : 10;
    while (digit(*at) < base) {
        unsigned long next;
        if (__builtin_mul_overflow(value, (unsigned long)base, &next) ||
            __builtin_add_overflow(next, (unsigned long)digit(*at), &value)) {
            *overflow = 1;
            value = 0;
        }
        any = 1;
        at++;
    }
    if (end)
        *end = (char *)(any ? at : text);
    return value;
}

static long to_signed(const char *text, char **end, int base) {
    int negative, overflow;
    unsigned long value = magnitude(text, end, base, &negative, &overflow);
    if (overflow || value > (unsigned long)LONG_MAX + negative) {
        errno = ERANGE;
        return negative ? LONG_MIN : LONG_MAX;
    }
    return negative ? (long)(0 - value) : (long)value;
}

static unsigned long to_unsigned(const char *text, char **end, int base) {
    int negative, overflow;
    unsigned long value = magnitude(text, end, base, &negative, &overflow);
    if (overflow) {
        errno = ERANGE;
        return ULONG_MAX;
    }
    return negative ? 0 - value : value;
}

#define SIGNED(type, name)                                                                                            \
    PART type name(const char *text, char **end, int base) { return to_signed(text, end, base); }
#define UNSIGNED(type, name)                                                                                          \
    PART type name(const char *text, char **end, int base) { return to_unsigned(text, end, base); }
SIGNED(long, strtol)
SIGNED(long long, strtoll)
SIGNED(long, strtoimax)
SIGNED(long, __isoc23_strtol)
SIGNED(long long, __isoc23_strtoll)
UNSIGNED(unsigned long, strtoul)
UNSIGNED(unsigned long long, strtoull)
UNSIGNED(unsigned long, strtoumax)
UNSIGNED(unsigned long, __isoc23_strtoul)
UNSIGNED(unsigned long long, __isoc23_strtoull)

PART int atoi(const char *text) { return (int)to_signed(text, 0, 10); }
PART long atol(const char *text) { return to_signed(text, 0, 10); }
PART long long atoll(const char *text) { return to_signed(text, 0, 10); }

PART double strtod(const char *text, char **end) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = text;
    unsigned long digits = 0;
    int negative = 0, any = 0, exponent = 0;
    while (is_space(*at))
        at++;
    if (*at == '+' || *at == '-')
        negative = *at++ == '-';
    if (*at == 'i' || *at == 'I' || *at == 'n' || *at == 'N' || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')))
        __porf_unsupported("strtod of a hexadecimal number, an infinity or a NaN");
    for (int fraction = 0; (*at >= '0' && *at <= '9') || (*at == '.' && !fraction); at++) {
        if (*at == '.') {
            fraction = 1;
            continue;
        }
        any = 1;
        digits = digits * 10 + (unsigned long)(*at - '0');
        exponent -= fraction;
        if (digits >> 53)
            __porf_unsupported("strtod of a number with more than 15 digits");
    }
    if (any && (*at == 'e' || *at == 'E')) {
        const char *from = at + 1 + (at[1] == '+' || at[1] == '-');
        if (*from >= '0' && *from <= '9') {
            int shift = 0;
            for (; *from >= '0' && *from <= '9'; from++)
                shift = shift < 10000 ? shift * 10 + (*from - '0') : shift;
            exponent += at[1] == '-' ? -shift : shift;
            at = from;
        }
    }
    if (end)
        *end = (char *)(any ? at : text);
    double value = digits;
    if (digits != 0) {
        if (exponent < -22 || exponent > 22)
            __porf_unsupported("strtod of a number with a power of ten beyond 22");
        value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    }
    return negative ? -value : value;
}

PART float strtof(const char *text, char **end) { return (float)strtod(text, end); }
PART double atof(const char *text) { return strtod(text, 0); }

PART div_t div(int a, int b) { return (div_t){a / b, a % b}; }
PART ldiv_t ldiv(long a, long b) { return (ldiv_t){a / b, a % b}; }
PART lldiv_t lldiv(long long a, long long b) { return (lldiv_t){a / b, a % b}; }

// Random numbers are input, whatever the seed.
PART void srandom(unsigned seed) {}
PART void srand48(long seed) {}
PART long lrand48(void) { return random(); }
PART long nrand48(unsigned short state[3]) { return random(); }
PART long mrand48(void) { return (int)((unsigned)random() << 1 | (unsigned)(random() & 1)); }

PART int ffsl(long bits) { return __builtin_ffsl(bits); }
PART int ffsll(long long bits) { return __builtin_ffsll(bits); }
