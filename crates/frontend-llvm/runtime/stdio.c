// defines: fwrite fwrite_unlocked write pwrite fsync fopen fopen64 fdopen freopen open close lseek fileno
// defines: feof ferror clearerr remove unlink flockfile funlockfile fputs_unlocked putchar_unlocked putc_unlocked
// defines: dprintf vdprintf asprintf vasprintf vsprintf __printf_chk __fprintf_chk __snprintf_chk __sprintf_chk
// defines: __vsnprintf_chk system popen pipe tmpfile
// Files: there are none but the standard streams. What is written is read from memory and forgotten; opening a
// file fails.
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define PART __attribute__((weak))

extern void __porf_unsupported(const char *what);

// Reads what is written, as the system does.
static void look(const void *block, size_t size) {
    const volatile char *at = block;
    for (size_t i = 0; i < size; i++)
        (void)at[i];
}

PART size_t fwrite(const void *block, size_t size, size_t count, FILE *file) {
    look(block, size * count);
    return count;
}
#undef fwrite_unlocked
PART size_t fwrite_unlocked(const void *block, size_t size, size_t count, FILE *file) {
    return fwrite(block, size, count, file);
}
PART ssize_t write(int file, const void *block, size_t size) {
    look(block, size);
    return (ssize_t)size;
}
PART ssize_t pwrite(int file, const void *block, size_t size, off_t at) { return write(file, block, size); }
PART int fsync(int file) { return 0; }

static FILE *no_file(void) {
    errno = ENOENT;
    return 0;
}
PART FILE *fopen(const char *name, const char *mode) { return no_file(); }
PART FILE *fopen64(const char *name, const char *mode) { return no_file(); }
PART FILE *fdopen(int file, const char *mode) { return no_file(); }
PART FILE *freopen(const char *name, const char *mode, FILE *file) { return no_file(); }
PART FILE *tmpfile(void) { return no_file(); }
PART FILE *popen(const char *command, const char *mode) { return no_file(); }
PART int open(const char *name, int flags, ...) {
    errno = ENOENT;
    return -1;
}
PART int pipe(int files[2]) {
    errno = EMFILE;
    return -1;
}
PART int close(int file) { return 0; }
PART off_t lseek(int file, off_t offset, int whence) {
    errno = ESPIPE;
    return -1;
}
PART int remove(const char *name) {
    errno = ENOENT;
    return -1;
}
PART int unlink(const char *name) { return remove(name); }
PART int system(const char *command) { return command ? -1 : 0; }

PART int fileno(FILE *file) { return file == stdin ? 0 : file == stdout ? 1 : 2; }
PART int feof(FILE *file) { return 0; }
PART int ferror(FILE *file) { return 0; }
PART void clearerr(FILE *file) {}
PART void flockfile(FILE *file) {}
PART void funlockfile(FILE *file) {}
PART int fputs_unlocked(const char *text, FILE *file) { return fputs(text, file); }
PART int putchar_unlocked(int c) { return putchar(c); }
PART int putc_unlocked(int c, FILE *file) { return putchar(c); }

#define WITH_ARGUMENTS(last, call)                                                                                    \
    va_list arguments;                                                                                                \
    va_start(arguments, last);                                                                                        \
    int length = call;                                                                                                \
    va_end(arguments);                                                                                                \
    return length;

PART int vdprintf(int file, const char *format, va_list arguments) { return vprintf(format, arguments); }
PART int dprintf(int file, const char *format, ...) { WITH_ARGUMENTS(format, vprintf(format, arguments)) }
PART int __printf_chk(int flag, const char *format, ...) { WITH_ARGUMENTS(format, vprintf(format, arguments)) }
PART int __fprintf_chk(FILE *file, int flag, const char *format, ...) {
    WITH_ARGUMENTS(format, vprintf(format, arguments))
}
PART int vsprintf(char *to, const char *format, va_list arguments) {
    return vsnprintf(to, (size_t)-1, format, arguments);
}
PART int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...) {
    WITH_ARGUMENTS(format, vsnprintf(to, size, format, arguments))
}
PART int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...) {
    WITH_ARGUMENTS(format, vsnprintf(to, (size_t)-1, format, arguments))
}
PART int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list arguments) {
    return vsnprintf(to, size, format, arguments);
}
PART int vasprintf(char **to, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(0, 0, format, again);
    va_end(again);
    *to = malloc((size_t)length + 1);
    return *to ? vsnprintf(*to, (size_t)length + 1, format, arguments) : -1;
}
PART int asprintf(char **to, const char *format, ...) { WITH_ARGUMENTS(format, vasprintf(to, format, arguments)) }
