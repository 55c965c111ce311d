/* What a program may tell Porf. */
#ifndef PORF_H
#define PORF_H
#ifdef __cplusplus
extern "C" {
#endif
/* This execution is of no interest unless the condition holds. */
void __VERIFIER_assume(int);
/* The program is wrong where it comes here. */
void __VERIFIER_error(void);
/* Either. */
#ifdef __cplusplus
bool __VERIFIER_nondet_bool(void);
#else
_Bool __VERIFIER_nondet_bool(void);
#endif
/* Any number below `options`. */
unsigned porf_choose(unsigned options);
#ifdef __cplusplus
}
#endif
#endif
