// Atomics of 16 bytes, as builtins, as C11 and as inline assembly.
#include <stdatomic.h>
#include <stdio.h>

typedef unsigned __int128 wide;
struct tagged {
    void *pointer;
    unsigned long tag;
};
static _Alignas(16) wide cell;
static _Atomic struct tagged top;

static int cas16(wide *p, unsigned long *low, unsigned long *high, unsigned long b, unsigned long c) {
    unsigned char done;
    __asm__ volatile("lock cmpxchg16b %0\n\tsetz %1"
                     : "+m"(*p), "=q"(done), "+a"(*low), "+d"(*high)
                     : "b"(b), "c"(c)
                     : "memory", "cc");
    return done;
}

static void show(wide value) { printf("%lx:%lx\n", (unsigned long)(value >> 64), (unsigned long)value); }

int main(void) {
    struct tagged old = atomic_load(&top), new = {&cell, old.tag + 1};
    int first = atomic_compare_exchange_strong(&top, &old, new);
    int second = atomic_compare_exchange_strong(&top, &old, new);
    printf("%d %d %lu %d\n", first, second, old.tag, old.pointer == &cell);
    struct tagged was = atomic_exchange(&top, ((struct tagged){0, 9}));
    struct tagged now = atomic_load(&top);
    printf("%lu %lu\n", was.tag, now.tag);
    unsigned long low = 0, high = 0;
    int done = cas16(&cell, &low, &high, 5, 6), again = cas16(&cell, &low, &high, 7, 8);
    printf("%d %d %lu %lu\n", done, again, low, high);
    again = cas16(&cell, &low, &high, 1, 2);
    printf("%d %lu %lu\n", again, low, high);
    show(cell);
    return 0;
}
