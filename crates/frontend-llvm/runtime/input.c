// defines: scanf fscanf sscanf vscanf vfscanf vsscanf __isoc99_scanf __isoc99_fscanf __isoc99_sscanf
// defines: __isoc23_scanf __isoc23_fscanf __isoc23_sscanf fgets fgets_unlocked getline getdelim __getdelim gets ungetc
// defines: fread read
// Formatted input (C17 7.21.6.2). Numbers and characters of a stream are input of the program: any value, or the
// end of the stream. Words and lines are among the texts that are tried. Text that is there already, as `sscanf`
// has, is read as it is.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART __attribute__((weak))

extern void __porf_unsupported(const char *what);
extern _Bool __VERIFIER_nondet_bool(void);
extern char __VERIFIER_nondet_char(void);
extern short __VERIFIER_nondet_short(void);
extern int __VERIFIER_nondet_int(void);
extern long __VERIFIER_nondet_long(void);
extern float __VERIFIER_nondet_float(void);
extern double __VERIFIER_nondet_double(void);
extern const char *__porf_text(void);

// One conversion of a format.
struct Directive {
    int is_kept, width, length;
    char conversion;
    // What stands behind the bracket of a set.
    const char *set;
};

// What stands behind a `%`; the place behind it.
static const char *directive(const char *at, struct Directive *d) {
    *d = (struct Directive){1, 0, 0, 0, 0};
    if (*at == '*') {
        d->is_kept = 0;
        at++;
    }
    for (; *at >= '0' && *at <= '9'; at++)
        d->width = d->width * 10 + (*at - '0');
    // hh is -2, h -1, l 1, ll and the others 2.
    for (;; at++) {
        if (*at == 'h')
            d->length--;
        else if (*at == 'l')
            d->length++;
        else if (*at == 'z' || *at == 'j' || *at == 't' || *at == 'q')
            d->length = 2;
        else
            break;
    }
    d->conversion = *at++;
    if (d->conversion == '[') {
        d->set = at;
        // A bracket that comes first is a character of the set.
        at += *at == '^';
        at += *at == ']';
        while (*at && *at != ']')
            at++;
        at += *at == ']';
    }
    return at;
}

static int is_in_set(const char *set, char c) {
    int is_inverse = *set == '^', is_listed = 0;
    set += is_inverse;
    for (const char *first = set; *set && (*set != ']' || set == first); set++) {
        if (set[1] == '-' && set[2] && set[2] != ']') {
            is_listed |= (unsigned char)*set <= (unsigned char)c && (unsigned char)c <= (unsigned char)set[2];
            set += 2;
        } else {
            is_listed |= *set == c;
        }
    }
    return is_listed != is_inverse;
}

static void keep_integer(void *to, int length, long value) {
    switch (length) {
    case -2:
        *(char *)to = (char)value;
        break;
    case -1:
        *(short *)to = (short)value;
        break;
    case 0:
        *(int *)to = (int)value;
        break;
    default:
        *(long *)to = value;
    }
}

static void any_integer(void *to, int length) {
    switch (length) {
    case -2:
        *(char *)to = __VERIFIER_nondet_char();
        break;
    case -1:
        *(short *)to = __VERIFIER_nondet_short();
        break;
    case 0:
        *(int *)to = __VERIFIER_nondet_int();
        break;
    default:
        *(long *)to = __VERIFIER_nondet_long();
    }
}

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Whether a character belongs to a word (`%s`), or to a set.
static int goes_on(const struct Directive *d, char c) { return d->set ? is_in_set(d->set, c) : !is_space(c); }

// A word, or characters of a set; whether there are any.
static int any_word(char *to, const struct Directive *d) {
    const char *from = __porf_text();
    int i = 0;
    for (; from[i] && goes_on(d, from[i]) && (!d->width || i < d->width); i++)
        to[i] = from[i];
    if (i)
        to[i] = 0;
    return i > 0;
}

static int from_stream(const char *format, va_list arguments) {
    int count = 0;
    while (*format) {
        if (*format++ != '%')
            continue;
        struct Directive d;
        format = directive(format, &d);
        if (d.conversion == '%')
            continue;
        // The stream ends, or what is there is no number.
        if (__VERIFIER_nondet_bool())
            return count > 0 || __VERIFIER_nondet_bool() ? count : EOF;
        if (!d.is_kept)
            continue;
        void *to = va_arg(arguments, void *);
        switch (d.conversion) {
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            any_integer(to, d.length);
            break;
        case 'c':
            for (int i = 0; i < (d.width ? d.width : 1); i++)
                ((char *)to)[i] = __VERIFIER_nondet_char();
            break;
        case 'f':
        case 'e':
        case 'g':
            if (d.length > 0)
                *(double *)to = __VERIFIER_nondet_double();
            else
                *(float *)to = __VERIFIER_nondet_float();
            break;
        case 's':
        case '[':
            if (!any_word(to, &d))
                return count;
            break;
        default:
            __porf_unsupported("a conversion of this kind (scanf)");
        }
        count++;
    }
    return count;
}

static int from_text(const char *text, const char *format, va_list arguments) {
    const char *at = text;
    int count = 0;
    while (*format) {
        if (is_space(*format)) {
            while (is_space(*at))
                at++;
            format++;
            continue;
        }
        if (*format != '%') {
            if (*at != *format)
                return *at || count ? count : EOF;
            at++;
            format++;
            continue;
        }
        struct Directive d;
        format = directive(format + 1, &d);
        if (d.conversion == 'n') {
            keep_integer(va_arg(arguments, void *), d.length, at - text);
            continue;
        }
        if (d.conversion != 'c' && d.conversion != '[')
            while (is_space(*at))
                at++;
        if (d.conversion == '%') {
            if (*at++ != '%')
                return count;
            continue;
        }
        if (!*at)
            return count ? count : EOF;
        char piece[64];
        int base = d.conversion == 'i' ? 0 : d.conversion == 'o' ? 8 : d.conversion == 'x' || d.conversion == 'X' ? 16 : 10;
        char *end;
        switch (d.conversion) {
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            if (d.width >= (int)sizeof piece)
                __porf_unsupported("a number of more than 63 digits (sscanf)");
            if (d.width) {
                strncpy(piece, at, (size_t)d.width);
                piece[d.width] = 0;
            }
            const char *from = d.width ? piece : at;
            long value = d.conversion == 'd' || d.conversion == 'i' ? strtol(from, &end, base)
                                                                    : (long)strtoul(from, &end, base);
            if (end == from)
                return count;
            at += end - from;
            if (d.is_kept) {
                keep_integer(va_arg(arguments, void *), d.length, value);
                count++;
            }
            break;
        case 'f':
        case 'e':
        case 'g': {
            double number = strtod(at, &end);
            if (end == at)
                return count;
            at = end;
            if (d.is_kept) {
                if (d.length > 0)
                    *va_arg(arguments, double *) = number;
                else
                    *va_arg(arguments, float *) = (float)number;
                count++;
            }
            break;
        }
        case 'c':
        case 's':
        case '[': {
            if (d.set && !is_in_set(d.set, *at))
                return count;
            char *to = d.is_kept ? va_arg(arguments, char *) : 0;
            int limit = d.width ? d.width : d.conversion == 'c' ? 1 : 0x7fffffff, i = 0;
            for (; i < limit && *at && (d.conversion == 'c' || goes_on(&d, *at)); i++, at++)
                if (to)
                    to[i] = *at;
            if (to && d.conversion != 'c')
                to[i] = 0;
            count += to != 0;
            break;
        }
        default:
            __porf_unsupported("a conversion of this kind (sscanf)");
        }
    }
    return count;
}

#define WITH_ARGUMENTS(call)                                                                                          \
    va_list arguments;                                                                                                \
    va_start(arguments, format);                                                                                      \
    int count = call;                                                                                                 \
    va_end(arguments);                                                                                                \
    return count;
#define FORMS(prefix)                                                                                                 \
    PART int prefix##scanf(const char *format, ...) { WITH_ARGUMENTS(from_stream(format, arguments)) }                \
    PART int prefix##fscanf(FILE *file, const char *format, ...) { WITH_ARGUMENTS(from_stream(format, arguments)) }   \
    PART int prefix##sscanf(const char *text, const char *format, ...) {                                              \
        WITH_ARGUMENTS(from_text(text, format, arguments))                                                            \
    }
#undef scanf
#undef fscanf
#undef sscanf
FORMS(__isoc99_)
FORMS(__isoc23_)

// A line. It ends with a newline unless it is cut off: what follows then is as good as any other line.
static size_t any_line(char *to, size_t room) {
    const char *from = __porf_text();
    size_t i = 0;
    for (; from[i] && from[i] != '\n' && i < room; i++)
        to[i] = from[i];
    if (i < room)
        to[i++] = '\n';
    return i;
}
PART char *fgets(char *to, int size, FILE *file) {
    if (size < 1 || __VERIFIER_nondet_bool())
        return 0;
    to[any_line(to, (size_t)size - 1)] = 0;
    return to;
}
#undef fgets_unlocked
PART char *fgets_unlocked(char *to, int size, FILE *file) { return fgets(to, size, file); }
PART char *gets(char *to) {
    if (__VERIFIER_nondet_bool())
        return 0;
    const char *from = __porf_text();
    size_t i = 0;
    do
        to[i] = from[i];
    while (from[i++]);
    return to;
}
// What the C library calls a `getdelim` whose delimiter is the newline.
static ssize_t whole_line(char **to, size_t *size) {
    if (__VERIFIER_nondet_bool())
        return -1;
    char *line = malloc(512);
    size_t length = any_line(line, 511);
    line[length] = 0;
    free(*to);
    *to = line;
    *size = 512;
    return (ssize_t)length;
}
PART ssize_t getline(char **to, size_t *size, FILE *file) { return whole_line(to, size); }
PART ssize_t getdelim(char **to, size_t *size, int delimiter, FILE *file) {
    if (delimiter != '\n')
        __porf_unsupported("getdelim");
    return whole_line(to, size);
}
PART ssize_t __getdelim(char **to, size_t *size, int delimiter, FILE *file) {
    return getdelim(to, size, delimiter, file);
}
// Lines of the standard input; nothing else can be open.
PART ssize_t read(int file, void *block, size_t size) {
    return size == 0 || __VERIFIER_nondet_bool() ? 0 : (ssize_t)any_line(block, size);
}
PART size_t fread(void *block, size_t size, size_t count, FILE *file) {
    return size == 0 || count == 0 ? 0 : (size_t)read(0, block, size * count) / size;
}
PART int ungetc(int c, FILE *file) {
    __porf_unsupported("ungetc");
    return c;
}
// Behind everything else: these have the names that the headers give to others.
extern int plain_scanf(const char *format, ...) __asm__("scanf");
extern int plain_fscanf(FILE *file, const char *format, ...) __asm__("fscanf");
extern int plain_sscanf(const char *text, const char *format, ...) __asm__("sscanf");
FORMS(plain_)
