// The system call behind waiting for an atomic: until the word has another value. Waking is not needed.
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

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
    va_end(arguments);
    if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)
        while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
        }
    return 0;
}
