// defines: __atomic_load __atomic_store __atomic_exchange __atomic_compare_exchange __atomic_is_lock_free
// defines: __atomic_load_16 __atomic_store_16 __atomic_exchange_16 __atomic_compare_exchange_16 __atomic_fetch_add_16
// defines: __atomic_fetch_sub_16 __atomic_fetch_and_16 __atomic_fetch_or_16 __atomic_fetch_xor_16
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

typedef unsigned __int128 Wide;

extern Wide load_16(void *object, int order) NAMED("__atomic_load_16");
Wide load_16(void *object, int order) {
    Wide value;
    any_load(16, object, &value, order);
    return value;
}
extern void store_16(void *object, Wide value, int order) NAMED("__atomic_store_16");
void store_16(void *object, Wide value, int order) { any_store(16, object, &value, order); }
extern Wide exchange_16(void *object, Wide value, int order) NAMED("__atomic_exchange_16");
Wide exchange_16(void *object, Wide value, int order) {
    Wide old;
    any_exchange(16, object, &value, &old, order);
    return old;
}
extern _Bool cas_16(void *object, void *expected, Wide desired, int success, int failure)
    NAMED("__atomic_compare_exchange_16");
_Bool cas_16(void *object, void *expected, Wide desired, int success, int failure) {
    return any_cas(16, object, expected, &desired, success, failure);
}

#define FETCH(name, text, operator)                                                                                   \
    extern Wide name(void *object, Wide operand, int order) NAMED(text);                                              \
    Wide name(void *object, Wide operand, int order) {                                                                \
        Wide old = load_16(object, __ATOMIC_RELAXED);                                                                 \
        while (!cas_16(object, &old, old operator operand, order, __ATOMIC_RELAXED)) {                                \
        }                                                                                                             \
        return old;                                                                                                   \
    }
FETCH(fetch_add_16, "__atomic_fetch_add_16", +)
FETCH(fetch_sub_16, "__atomic_fetch_sub_16", -)
FETCH(fetch_and_16, "__atomic_fetch_and_16", &)
FETCH(fetch_or_16, "__atomic_fetch_or_16", |)
FETCH(fetch_xor_16, "__atomic_fetch_xor_16", ^)
