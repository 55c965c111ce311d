// What a program may ask ThreadSanitizer's runtime: where an address is, what the heap has and who allocated it, objects of
// a virtual machine; and accesses that it announces itself. A case fails by its exit status.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *__tsan_locate_address(void *, char *, size_t, void **, size_t *);
int __tsan_get_alloc_stack(void *, void **, size_t, int *, uint64_t *);
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
const void *__sanitizer_get_allocated_begin(const void *);
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t), void (*)(const volatile void *));
void __sanitizer_symbolize_pc(void *, const char *, char *, size_t);
void __sanitizer_symbolize_global(void *, const char *, char *, size_t);
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

__attribute__((noinline)) static char *allocator(void) {
    char *block = malloc(24);
    block[0] = 1;
    return block;
}

static int allocation(void) {
    char *block = allocator(), text[64];
    void *trace[4];
    int thread = -1;
    uint64_t system = 0;
    int good = __tsan_get_alloc_stack(block + 5, trace, 4, &thread, &system) > 0;
    good &= thread >= 0 && system == (uint64_t)syscall(SYS_gettid);
    __sanitizer_symbolize_pc(trace[0], "%f at line %l%%", text, sizeof text);
    good &= !strncmp(text, "allocator at line ", 18) && text[strlen(text) - 1] == '%';
    __sanitizer_symbolize_pc(trace[0], "%f", text, 6);
    good &= !strcmp(text, "allo");
    __sanitizer_symbolize_global(&some_global[1], "%g", text, sizeof text);
    good &= !strcmp(text, "some_global");
    good &= __sanitizer_get_allocated_begin(block + 5) == block;
    free(block);
    return good && !__tsan_get_alloc_stack(block, trace, 4, &thread, &system);
}

static volatile size_t made, gone;
static void make(const volatile void *block, size_t size) { made += block ? size : 0; }
static void lose(const volatile void *block) { gone += block != 0; }

static int hooks(void) {
    static int installed;
    if (!installed++ && !__sanitizer_install_malloc_and_free_hooks(make, lose)) return 0;
    size_t made_before = made, gone_before = gone;
    free(allocator());
    return made == made_before + 24 && gone == gone_before + 1;
}

static int (*const cases[])(void) = {locate, objects, accesses, allocation, hooks};
static const char *const names[] = {"locate", "objects", "accesses", "allocation", "hooks"};

static void *run(void *function) { return (void *)(intptr_t)(*(int (*const *)(void))function)(); }

int main(int argc, char **argv) {
    for (int i = 0; i < 5; i++) {
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
