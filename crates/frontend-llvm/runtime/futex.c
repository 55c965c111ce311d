// The system call behind waiting for an atomic: until the word has another value. Waking is not needed.
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);

long syscall(long number, ...) {
    if (number != SYS_futex) {
        errno = ENOSYS;
        return -1;
    }
    va_list arguments;
    va_start(arguments, number);
    int *word = va_arg(arguments, int *);
    int operation = va_arg(arguments, int) & FUTEX_CMD_MASK;
    int value = va_arg(arguments, int);
    int waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
    void *deadline = waits ? va_arg(arguments, void *) : 0;
    va_end(arguments);
    if (!waits)
        return 0;
    if (deadline) {
        if (__VERIFIER_nondet_bool()) {
            errno = ETIMEDOUT;
            return -1;
        }
        __VERIFIER_assume(__atomic_load_n(word, __ATOMIC_SEQ_CST) != value);
    } else
        while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
        }
    return 0;
}
