/* The names that programs written for GenMC use, with the meaning they have there. */
#ifndef GENMC_H
#define GENMC_H
#include <pthread.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void __VERIFIER_assume(int);
int __VERIFIER_nondet_int(void);
int __VERIFIER_thread_self(void);

/* Loops that wait. */
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);

/* Threads. Which of them are interchangeable is found without being told. */
typedef pthread_t __VERIFIER_thread_t;
static inline __VERIFIER_thread_t __VERIFIER_spawn(void *(*run)(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, argument);
    return thread;
}
static inline __VERIFIER_thread_t __VERIFIER_spawn_symmetric(void *(*run)(void *), void *argument,
                                                             __VERIFIER_thread_t twin) {
    (void)twin;
    return __VERIFIER_spawn(run, argument);
}
static inline void *__VERIFIER_join(__VERIFIER_thread_t thread) {
    void *result;
    pthread_join(thread, &result);
    return result;
}
static inline void __VERIFIER_join_symmetric(__VERIFIER_thread_t thread) { pthread_join(thread, NULL); }

/* Hints for another search: what they mark is done as it stands. */
#define __VERIFIER_local_write(write) do { write; } while (0)
#define __VERIFIER_final_write(write) do { write; } while (0)
#define __VERIFIER_helped_CAS(cas) do { cas; } while (0)
#define __VERIFIER_helping_CAS(cas) do { cas; } while (0)
#define __VERIFIER_optional(block) do { block; } while (0)
#define __VERIFIER_speculative_read(read) ({ __auto_type porf_read = read; porf_read; })
#define __VERIFIER_confirming_read(read) ({ __auto_type porf_read = read; porf_read; })
#define __VERIFIER_confirming_CAS(cas) ({ __auto_type porf_cas = cas; porf_cas; })
#define __VERIFIER_final_CAS(cas) ({ __auto_type porf_cas = cas; porf_cas; })

/* Hazard pointers. What is retired is never freed, so nobody can come too late. */
typedef struct { void *nothing; } __VERIFIER_hp_t;
static inline __VERIFIER_hp_t *__VERIFIER_hp_alloc(void) {
    static __VERIFIER_hp_t one;
    return &one;
}
#define __VERIFIER_hp_protect(pointer, place) \
    ((void)(pointer), __atomic_load_n((void **)(place), __ATOMIC_ACQUIRE))
#define __VERIFIER_hp_clear(pointer) ((void)(pointer))
#define __VERIFIER_hp_free(pointer) ((void)(pointer))
#define __VERIFIER_hp_retire(object) ((void)(object))
#ifdef __cplusplus
}
#endif
#endif
