/* <pthread.h> with cleanup handlers in a list of porf's own, which pthread_exit and pthread_cancel run. glibc's macros
   jump (C) or unwind (C++) to them instead; the order of the handlers is the same. */
#ifndef PORF_PTHREAD_H
#define PORF_PTHREAD_H
#include_next <pthread.h>

#ifndef PORF_PART
struct __porf_cleanup {
    void (*routine)(void *);
    void *argument;
    struct __porf_cleanup *before;
};
#ifdef __cplusplus
extern "C" {
#endif
void __porf_cleanup_push(struct __porf_cleanup *);
void __porf_cleanup_pop(struct __porf_cleanup *);
#ifdef __cplusplus
}
#endif

#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#define pthread_cleanup_push(function, value)                                                                         \
    do {                                                                                                              \
        struct __porf_cleanup __porf_handler = {(function), (value), 0};                                              \
        __porf_cleanup_push(&__porf_handler);
#define pthread_cleanup_pop(execute)                                                                                  \
    __porf_cleanup_pop(&__porf_handler);                                                                              \
    if (execute)                                                                                                      \
        __porf_handler.routine(__porf_handler.argument);                                                              \
    }                                                                                                                 \
    while (0)
#endif
#endif
