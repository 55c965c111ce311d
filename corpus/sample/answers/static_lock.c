// Locks of the program's own that live as long as the program: to destroy one that is held is no mistake.
#include <stdio.h>
#include <string.h>

void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
enum { LINKER_INIT = 1, NOT_STATIC = 1 << 8 };

static long lock;

int main(int argc, char **argv) {
#ifdef WRONG
    static const char *const names[] = {"plain", "both"};
    static const unsigned flags[][2] = {{0, 0}, {NOT_STATIC, NOT_STATIC}};
#else
    static const char *const names[] = {"linked", "not_created_so"};
    static const unsigned flags[][2] = {{LINKER_INIT, 0}, {0, NOT_STATIC}};
#endif
    for (int i = 0; i < 2; i++) {
        if (argc < 2) {
            puts(names[i]);
        } else if (!strcmp(argv[1], names[i])) {
            __tsan_mutex_create(&lock, flags[i][0]);
            __tsan_mutex_pre_lock(&lock, 0);
            __tsan_mutex_post_lock(&lock, 0, 0);
            __tsan_mutex_destroy(&lock, flags[i][1]);
#ifndef WRONG
            __tsan_mutex_pre_unlock(&lock, 0);
            __tsan_mutex_post_unlock(&lock, 0);
#endif
        }
    }
    return 0;
}
