/* The names that programs written for GenMC use, with the meaning they have there. */
#ifndef GENMC_H
#define GENMC_H
#ifdef __cplusplus
extern "C" {
#endif
void __VERIFIER_assume(int);
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);
void __VERIFIER_opt_begin(void);
int __VERIFIER_thread_self(void);
void __VERIFIER_hp_free(void *);
#ifdef __cplusplus
}
#endif
#endif
