// defines: qsort qsort_r bsearch lfind
// Sorting and searching (C17 7.22.5): by insertion, which needs the fewest steps for the few elements that programs
// under verification sort.
#include <stddef.h>

#define PART __attribute__((weak))

typedef int Compare(const void *, const void *);
typedef int CompareWith(const void *, const void *, void *);

// In pieces of the size that the program is likely to use.
static void swap(char *a, char *b, size_t size) {
#define SWAP_AS(type)                                                                                                 \
    if (size % sizeof(type) == 0 && (size_t)a % sizeof(type) == 0) {                                                  \
        for (size_t i = 0; i < size; i += sizeof(type)) {                                                             \
            type kept = *(type *)(a + i);                                                                             \
            *(type *)(a + i) = *(type *)(b + i);                                                                      \
            *(type *)(b + i) = kept;                                                                                  \
        }                                                                                                             \
        return;                                                                                                       \
    }
    SWAP_AS(long)
    SWAP_AS(int)
    SWAP_AS(short)
    SWAP_AS(char)
}

PART void qsort(void *base, size_t count, size_t size, Compare *compare) {
    char *first = base;
    for (size_t end = 1; end < count; end++)
        for (size_t at = end; at > 0 && compare(first + (at - 1) * size, first + at * size) > 0; at--)
            swap(first + (at - 1) * size, first + at * size, size);
}

PART void qsort_r(void *base, size_t count, size_t size, CompareWith *compare, void *with) {
    char *first = base;
    for (size_t end = 1; end < count; end++)
        for (size_t at = end; at > 0 && compare(first + (at - 1) * size, first + at * size, with) > 0; at--)
            swap(first + (at - 1) * size, first + at * size, size);
}

PART void *bsearch(const void *key, const void *base, size_t count, size_t size, Compare *compare) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *at = (const char *)base + middle * size;
        int order = compare(key, at);
        if (order == 0)
            return (void *)at;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

PART void *lfind(const void *key, const void *base, size_t *count, size_t size, Compare *compare) {
    for (size_t i = 0; i < *count; i++) {
        const char *at = (const char *)base + i * size;
        if (compare(key, at) == 0)
            return (void *)at;
    }
    return 0;
}
