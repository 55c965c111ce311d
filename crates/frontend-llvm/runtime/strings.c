// defines: strncpy strncat strstr strrchr strspn strcspn strpbrk strtok strtok_r __strtok_r strsep strndup __strndup
// defines: stpcpy __stpcpy stpncpy strcasecmp strncasecmp strcoll strchrnul memchr memrchr mempcpy __mempcpy memmem
// defines: memccpy bzero explicit_bzero index rindex strlcpy strlcat strerror strerror_r __xpg_strerror_r strsignal
// defines: __strcpy_chk __strcat_chk __strncpy_chk __memmove_chk rawmemchr strcasestr ffs
// Text (C17 7.24, POSIX <string.h> and <strings.h>), as far as it is not written in our IR.
#include <stddef.h>
#include <errno.h>

#define PART __attribute__((weak))

extern size_t strlen(const char *);
extern size_t strnlen(const char *, size_t);
extern int strcmp(const char *, const char *);
extern char *strcpy(char *, const char *);
extern char *strcat(char *, const char *);
extern void *memcpy(void *, const void *, size_t);
extern void *memmove(void *, const void *, size_t);
extern void *memset(void *, int, size_t);
extern int memcmp(const void *, const void *, size_t);
extern void *malloc(size_t);

PART char *strncpy(char *to, const char *from, size_t size) {
    size_t i = 0;
    for (; i < size && from[i]; i++)
        to[i] = from[i];
    for (; i < size; i++)
        to[i] = 0;
    return to;
}

PART char *stpncpy(char *to, const char *from, size_t size) { return strncpy(to, from, size) + strnlen(to, size); }

PART char *strncat(char *to, const char *from, size_t size) {
    char *end = to + strlen(to);
    size_t i = 0;
    for (; i < size && from[i]; i++)
        end[i] = from[i];
    end[i] = 0;
    return to;
}

PART char *stpcpy(char *to, const char *from) {
    while ((*to = *from)) {
        to++;
        from++;
    }
    return to;
}
PART char *__stpcpy(char *to, const char *from) { return stpcpy(to, from); }

PART size_t strlcpy(char *to, const char *from, size_t size) {
    size_t length = strlen(from);
    if (size > 0) {
        size_t copied = length < size - 1 ? length : size - 1;
        memcpy(to, from, copied);
        to[copied] = 0;
    }
    return length;
}

PART size_t strlcat(char *to, const char *from, size_t size) {
    size_t before = strnlen(to, size);
    return before + strlcpy(to + before, from, size - before);
}

PART char *strstr(const char *text, const char *part) {
    for (;; text++) {
        size_t i = 0;
        while (part[i] && text[i] == part[i])
            i++;
        if (!part[i])
            return (char *)text;
        if (!*text)
            return 0;
    }
}

PART char *strrchr(const char *text, int wanted) {
    const char *found = 0;
    for (;; text++) {
        if (*text == (char)wanted)
            found = text;
        if (!*text)
            return (char *)found;
    }
}
PART char *rindex(const char *text, int wanted) { return strrchr(text, wanted); }

PART char *strchrnul(const char *text, int wanted) {
    while (*text && *text != (char)wanted)
        text++;
    return (char *)text;
}

PART char *index(const char *text, int wanted) {
    const char *found = strchrnul(text, wanted);
    return (char *)(*found == (char)wanted ? found : 0);
}

static int contains(const char *set, char c) {
    for (; *set; set++)
        if (*set == c)
            return 1;
    return 0;
}

PART size_t strspn(const char *text, const char *set) {
    size_t i = 0;
    while (text[i] && contains(set, text[i]))
        i++;
    return i;
}

PART size_t strcspn(const char *text, const char *set) {
    size_t i = 0;
    while (text[i] && !contains(set, text[i]))
        i++;
    return i;
}

PART char *strpbrk(const char *text, const char *set) {
    text += strcspn(text, set);
    return (char *)(*text ? text : 0);
}

PART char *strtok_r(char *text, const char *set, char **rest) {
    if (!text)
        text = *rest;
    text += strspn(text, set);
    if (!*text) {
        *rest = text;
        return 0;
    }
    char *end = text + strcspn(text, set);
    if (*end)
        *end++ = 0;
    *rest = end;
    return text;
}
PART char *__strtok_r(char *text, const char *set, char **rest) { return strtok_r(text, set, rest); }

// One for all threads: two that call it race, as they do with the C library.
static char *strtok_rest;
PART char *strtok(char *text, const char *set) { return strtok_r(text, set, &strtok_rest); }

PART char *strsep(char **text, const char *set) {
    char *first = *text;
    if (!first)
        return 0;
    char *end = first + strcspn(first, set);
    *text = *end ? end + 1 : 0;
    *end = 0;
    return first;
}

PART char *strndup(const char *text, size_t size) {
    size_t length = strnlen(text, size);
    char *copy = malloc(length + 1);
    if (!copy)
        return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}
PART char *__strndup(const char *text, size_t size) { return strndup(text, size); }

static int lower(unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

PART int strncasecmp(const char *a, const char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        int order = lower(a[i]) - lower(b[i]);
        if (order || !a[i])
            return order;
    }
    return 0;
}
PART int strcasecmp(const char *a, const char *b) { return strncasecmp(a, b, (size_t)-1); }

PART char *strcasestr(const char *text, const char *part) {
    size_t length = strlen(part);
    for (;; text++) {
        if (strncasecmp(text, part, length) == 0)
            return (char *)text;
        if (!*text)
            return 0;
    }
}

PART int strcoll(const char *a, const char *b) { return strcmp(a, b); }

PART void *memchr(const void *block, int wanted, size_t size) {
    const unsigned char *at = block;
    for (size_t i = 0; i < size; i++)
        if (at[i] == (unsigned char)wanted)
            return (void *)(at + i);
    return 0;
}
PART void *rawmemchr(const void *block, int wanted) { return memchr(block, wanted, (size_t)-1); }

PART void *memrchr(const void *block, int wanted, size_t size) {
    const unsigned char *at = block;
    while (size-- > 0)
        if (at[size] == (unsigned char)wanted)
            return (void *)(at + size);
    return 0;
}

PART void *mempcpy(void *to, const void *from, size_t size) { return (char *)memcpy(to, from, size) + size; }
PART void *__mempcpy(void *to, const void *from, size_t size) { return mempcpy(to, from, size); }

PART void *memccpy(void *to, const void *from, int end, size_t size) {
    unsigned char *target = to;
    const unsigned char *source = from;
    for (size_t i = 0; i < size; i++)
        if ((target[i] = source[i]) == (unsigned char)end)
            return target + i + 1;
    return 0;
}

PART void *memmem(const void *block, size_t size, const void *part, size_t length) {
    const char *at = block;
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(at + i, part, length) == 0)
            return (void *)(at + i);
    return 0;
}

PART void bzero(void *block, size_t size) { memset(block, 0, size); }
PART void explicit_bzero(void *block, size_t size) { memset(block, 0, size); }

// What _FORTIFY_SOURCE calls; an object's bounds are checked anyway.
PART char *__strcpy_chk(char *to, const char *from, size_t size) { return strcpy(to, from); }
PART char *__strcat_chk(char *to, const char *from, size_t size) { return strcat(to, from); }
PART char *__strncpy_chk(char *to, const char *from, size_t n, size_t size) { return strncpy(to, from, n); }
PART void *__memmove_chk(void *to, const void *from, size_t n, size_t size) { return memmove(to, from, n); }

PART char *strerror(int number) { return number == 0 ? "Success" : "an error"; }
PART char *strsignal(int number) { return "a signal"; }
PART char *strerror_r(int number, char *buffer, size_t size) { return strerror(number); }
PART int __xpg_strerror_r(int number, char *buffer, size_t size) {
    strlcpy(buffer, strerror(number), size);
    return 0;
}

PART int ffs(int value) { return __builtin_ffs(value); }
