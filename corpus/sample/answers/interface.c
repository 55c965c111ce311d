// What a program may ask ThreadSanitizer's runtime: where an address is, what the heap has, objects of a virtual
// machine; and accesses that it announces itself. A case fails by its exit status.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

const char *__tsan_locate_address(void *, char *, size_t, void **, size_t *);
void __tsan_flush_memory(void);
void __tsan_java_alloc(size_t, size_t);
void __tsan_java_free(size_t, size_t);
void __tsan_java_move(size_t, size_t, size_t);
size_t __tsan_java_find(size_t *, size_t);
int __tsan_java_mutex_unlock_rec(size_t);
void __tsan_java_mutex_lock(size_t);
void __tsan_java_mutex_unlock(size_t);
void __tsan_java_mutex_lock_rec(size_t, int);
size_t __sanitizer_get_allocated_size(const void *);
int __sanitizer_get_ownership(const void *);
uint32_t __sanitizer_unaligned_load32(const void *);
void __sanitizer_unaligned_store32(void *, uint32_t);
void __sanitizer_syscall_pre_impl_getpid(void);
void __sanitizer_syscall_post_impl_getpid(long);

long some_global[3];

static int locate(void) {
    char name[32];
    void *start;
    size_t size;
    long local = 0;
    char *block = malloc(10);
    int good = !strcmp(__tsan_locate_address(block + 3, name, 32, &start, &size), "heap") && start == block && size == 10;
    good &= !strcmp(__tsan_locate_address(&local, name, 32, &start, &size), "stack");
    good &= !strcmp(__tsan_locate_address(&some_global[1], name, 32, &start, &size), "global");
    good &= !strcmp(name, "some_global") && start == some_global && size == sizeof some_global;
    good &= __sanitizer_get_allocated_size(block) == 10 && __sanitizer_get_ownership(block);
    good &= !__sanitizer_get_ownership(block + 1) && !__sanitizer_get_ownership(&local);
    free(block);
    return good && !__sanitizer_get_ownership(block);
}

static int objects(void) {
    size_t heap = (size_t)malloc(1024), at = heap;
    __tsan_java_alloc(heap + 16, 32);
    __tsan_java_alloc(heap + 64, 8);
    int good = __tsan_java_find(&at, heap + 1024) == 32 && at == heap + 16;
    at = heap + 17;
    good &= __tsan_java_find(&at, heap + 1024) == 8 && at == heap + 64;
    __tsan_java_move(heap + 64, heap + 128, 8);
    at = heap + 17;
    good &= __tsan_java_find(&at, heap + 1024) == 8 && at == heap + 128;
    __tsan_java_free(heap + 128, 8);
    at = heap + 17;
    good &= __tsan_java_find(&at, heap + 1024) == 0;
    __tsan_java_mutex_lock(heap);
    __tsan_java_mutex_lock(heap);
    good &= __tsan_java_mutex_unlock_rec(heap) == 2;
    __tsan_java_mutex_lock_rec(heap, 2);
    __tsan_java_mutex_unlock(heap);
    __tsan_java_mutex_unlock(heap);
    return good;
}

static int accesses(void) {
    char bytes[8] = {0};
    __sanitizer_unaligned_store32(bytes + 1, 0x01020304);
    __tsan_flush_memory();
    __sanitizer_syscall_pre_impl_getpid();
    __sanitizer_syscall_post_impl_getpid(1);
    return __sanitizer_unaligned_load32(bytes + 1) == 0x01020304 && bytes[1] == 4;
}

static int (*const cases[])(void) = {locate, objects, accesses};
static const char *const names[] = {"locate", "objects", "accesses"};

static void *run(void *function) { return (void *)(intptr_t)(*(int (*const *)(void))function)(); }

int main(int argc, char **argv) {
    for (int i = 0; i < 3; i++) {
        if (argc < 2) puts(names[i]);
        else if (!strcmp(argv[1], names[i])) {
            pthread_t thread;
            void *good;
            int alone = cases[i]();
            pthread_create(&thread, 0, run, (void *)&cases[i]);
            pthread_join(thread, &good);
            return !(alone && good);
        }
    }
    return argc > 1;
}
