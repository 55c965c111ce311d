// defines: __atomic_*
// What compilers call for atomics that they do not write as instructions. Objects of 1, 2, 4, 8 and 16 bytes are
// accessed as such. For others there is a lock, as in libatomic: it orders more than the access itself would.
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define PART __attribute__((weak))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// An ordering is a constant of an instruction.
#define LOAD_AS(type)                                                                                                 \
    switch (order) {                                                                                                  \
    case __ATOMIC_RELAXED:                                                                                            \
        *(type *)to = __atomic_load_n((type *)object, __ATOMIC_RELAXED);                                              \
        return;                                                                                                       \
    case __ATOMIC_CONSUME:                                                                                            \
    case __ATOMIC_ACQUIRE:                                                                                            \
        *(type *)to = __atomic_load_n((type *)object, __ATOMIC_ACQUIRE);                                              \
        return;                                                                                                       \
    default:                                                                                                          \
        *(type *)to = __atomic_load_n((type *)object, __ATOMIC_SEQ_CST);                                              \
        return;                                                                                                       \
    }
#define STORE_AS(type)                                                                                                \
    switch (order) {                                                                                                  \
    case __ATOMIC_RELAXED:                                                                                            \
        __atomic_store_n((type *)object, *(type *)from, __ATOMIC_RELAXED);                                            \
        return;                                                                                                       \
    case __ATOMIC_RELEASE:                                                                                            \
        __atomic_store_n((type *)object, *(type *)from, __ATOMIC_RELEASE);                                            \
        return;                                                                                                       \
    default:                                                                                                          \
        __atomic_store_n((type *)object, *(type *)from, __ATOMIC_SEQ_CST);                                            \
        return;                                                                                                       \
    }
#define EXCHANGE_BY(type, order)                                                                                      \
    *(type *)to = __atomic_exchange_n((type *)object, *(type *)from, order);                                          \
    return
#define EXCHANGE_AS(type)                                                                                             \
    switch (order) {                                                                                                  \
    case __ATOMIC_RELAXED:                                                                                            \
        EXCHANGE_BY(type, __ATOMIC_RELAXED);                                                                          \
    case __ATOMIC_CONSUME:                                                                                            \
    case __ATOMIC_ACQUIRE:                                                                                            \
        EXCHANGE_BY(type, __ATOMIC_ACQUIRE);                                                                          \
    case __ATOMIC_RELEASE:                                                                                            \
        EXCHANGE_BY(type, __ATOMIC_RELEASE);                                                                          \
    case __ATOMIC_ACQ_REL:                                                                                            \
        EXCHANGE_BY(type, __ATOMIC_ACQ_REL);                                                                          \
    default:                                                                                                          \
        EXCHANGE_BY(type, __ATOMIC_SEQ_CST);                                                                          \
    }
// The failure ordering is at most the success ordering's.
#define CAS_BY(type, success, failure)                                                                                \
    return __atomic_compare_exchange_n((type *)object, (type *)expected, *(type *)desired, 0, success, failure)
#define CAS_AS(type)                                                                                                  \
    switch (success) {                                                                                                \
    case __ATOMIC_RELAXED:                                                                                            \
        CAS_BY(type, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                                                             \
    case __ATOMIC_CONSUME:                                                                                            \
    case __ATOMIC_ACQUIRE:                                                                                            \
        if (failure == __ATOMIC_RELAXED)                                                                              \
            CAS_BY(type, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);                                                         \
        CAS_BY(type, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);                                                             \
    case __ATOMIC_RELEASE:                                                                                            \
        CAS_BY(type, __ATOMIC_RELEASE, __ATOMIC_RELAXED);                                                             \
    case __ATOMIC_ACQ_REL:                                                                                            \
        if (failure == __ATOMIC_RELAXED)                                                                              \
            CAS_BY(type, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);                                                         \
        CAS_BY(type, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                                                             \
    default:                                                                                                          \
        if (failure == __ATOMIC_RELAXED)                                                                              \
            CAS_BY(type, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);                                                         \
        if (failure == __ATOMIC_ACQUIRE)                                                                              \
            CAS_BY(type, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);                                                         \
        CAS_BY(type, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                                             \
    }
#define BY_SIZE(ACCESS_AS)                                                                                            \
    switch (size) {                                                                                                   \
    case 1:                                                                                                           \
        ACCESS_AS(unsigned char)                                                                                      \
    case 2:                                                                                                           \
        ACCESS_AS(unsigned short)                                                                                     \
    case 4:                                                                                                           \
        ACCESS_AS(unsigned int)                                                                                       \
    case 8:                                                                                                           \
        ACCESS_AS(unsigned long)                                                                                      \
    case 16:                                                                                                          \
        ACCESS_AS(unsigned __int128)                                                                                  \
    }

// The names are those of builtins, which cannot be defined.
#define NAMED(name) __asm__(name) PART

extern void any_load(size_t size, void *object, void *to, int order) NAMED("__atomic_load");
void any_load(size_t size, void *object, void *to, int order) {
    BY_SIZE(LOAD_AS)
    pthread_mutex_lock(&lock);
    memcpy(to, object, size);
    pthread_mutex_unlock(&lock);
}

extern void any_store(size_t size, void *object, void *from, int order) NAMED("__atomic_store");
void any_store(size_t size, void *object, void *from, int order) {
    BY_SIZE(STORE_AS)
    pthread_mutex_lock(&lock);
    memcpy(object, from, size);
    pthread_mutex_unlock(&lock);
}

extern void any_exchange(size_t size, void *object, void *from, void *to, int order) NAMED("__atomic_exchange");
void any_exchange(size_t size, void *object, void *from, void *to, int order) {
    BY_SIZE(EXCHANGE_AS)
    pthread_mutex_lock(&lock);
    memcpy(to, object, size);
    memcpy(object, from, size);
    pthread_mutex_unlock(&lock);
}

extern _Bool any_cas(size_t size, void *object, void *expected, void *desired, int success, int failure)
    NAMED("__atomic_compare_exchange");
_Bool any_cas(size_t size, void *object, void *expected, void *desired, int success, int failure) {
    BY_SIZE(CAS_AS)
    pthread_mutex_lock(&lock);
    _Bool same = memcmp(object, expected, size) == 0;
    if (same)
        memcpy(object, desired, size);
    else
        memcpy(expected, object, size);
    pthread_mutex_unlock(&lock);
    return same;
}

extern _Bool is_lock_free(size_t size, void *object) NAMED("__atomic_is_lock_free");
_Bool is_lock_free(size_t size, void *object) { return size == 1 || size == 2 || size == 4 || size == 8 || size == 16; }

// The same for one size, with the value itself.
#define FETCH(type, size, name, new)                                                                                  \
    extern type fetch_##name##_##size(void *object, type operand, int order) NAMED("__atomic_fetch_" #name "_" #size); \
    type fetch_##name##_##size(void *object, type operand, int order) {                                               \
        type old = load_##size(object, __ATOMIC_RELAXED);                                                             \
        while (!cas_##size(object, &old, new, order, __ATOMIC_RELAXED)) {                                             \
        }                                                                                                             \
        return old;                                                                                                   \
    }
#define SIZED(type, size)                                                                                             \
    extern type load_##size(void *object, int order) NAMED("__atomic_load_" #size);                                   \
    type load_##size(void *object, int order) {                                                                       \
        type value;                                                                                                   \
        any_load(size, object, &value, order);                                                                        \
        return value;                                                                                                 \
    }                                                                                                                 \
    extern void store_##size(void *object, type value, int order) NAMED("__atomic_store_" #size);                     \
    void store_##size(void *object, type value, int order) { any_store(size, object, &value, order); }                \
    extern type exchange_##size(void *object, type value, int order) NAMED("__atomic_exchange_" #size);               \
    type exchange_##size(void *object, type value, int order) {                                                       \
        type old;                                                                                                     \
        any_exchange(size, object, &value, &old, order);                                                              \
        return old;                                                                                                   \
    }                                                                                                                 \
    extern _Bool cas_##size(void *object, void *expected, type desired, int success, int failure)                     \
        NAMED("__atomic_compare_exchange_" #size);                                                                    \
    _Bool cas_##size(void *object, void *expected, type desired, int success, int failure) {                          \
        return any_cas(size, object, expected, &desired, success, failure);                                           \
    }                                                                                                                 \
    FETCH(type, size, add, old + operand)                                                                             \
    FETCH(type, size, sub, old - operand)                                                                             \
    FETCH(type, size, and, old & operand)                                                                             \
    FETCH(type, size, or, old | operand)                                                                              \
    FETCH(type, size, xor, old ^ operand)                                                                             \
    FETCH(type, size, nand, ~(old & operand))
SIZED(unsigned char, 1)
SIZED(unsigned short, 2)
SIZED(unsigned int, 4)
SIZED(unsigned long, 8)
SIZED(unsigned __int128, 16)
