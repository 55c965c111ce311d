// Inline assembly of x86-64.
#include <stdio.h>

static int fetch_add(int *p, int v) {
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(v), "+m"(*p)::"memory");
    return v;
}
static char cas(long *p, long old, long new) {
    char done;
    __asm__ volatile("lock; cmpxchgq %3,%1; sete %0" : "=q"(done), "+m"(*p), "+a"(old) : "r"(new) : "memory", "cc");
    return done;
}
static unsigned char exchange(unsigned char *p, unsigned char v) {
    __asm__ volatile("xchgb %0,%1" : "+q"(v), "+m"(*p)::"memory");
    return v;
}
static int decrement_is_zero(int *p) {
    unsigned char zero;
    __asm__ volatile("lock decl %0\n\tsete %1" : "+m"(*p), "=qm"(zero)::"memory", "cc");
    return zero;
}
static int old_of_cas(int *p, int old, int new) {
    int result;
    __asm__ volatile("lock\n\tcmpxchgl %2, %1" : "=a"(result), "+m"(*p) : "r"(new), "0"(old) : "memory");
    return result;
}

int main(void) {
    int x = 5, y;
    long w = 2;
    unsigned char b = 7;
    __asm__ volatile("" : "+r"(x)::"memory");
    __asm__("" : "=r"(y) : "0"(x + 1));
    __asm__ volatile("" ::"r"(x), "m"(w));
    __asm__ volatile("rep; nop" ::: "memory");
    __asm__ volatile("lfence\n\tsfence\n\tmfence" ::: "memory");
    __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
    printf("%d %d\n", x, y);
    int old = fetch_add(&x, 3);
    printf("%d %d\n", old, x);
    char first = cas(&w, 2, 9), second = cas(&w, 2, 10);
    printf("%d %d %ld\n", first, second, w);
    unsigned char was = exchange(&b, 200);
    printf("%d %d\n", was, b);
    x = 2;
    int one = decrement_is_zero(&x), two = decrement_is_zero(&x);
    printf("%d %d %d\n", one, two, x);
    __asm__ volatile("lock; orl %1,%0" : "+m"(x) : "ir"(6) : "memory");
    __asm__ volatile("lock incl %0" : "+m"(x)::"memory");
    int a = old_of_cas(&x, 7, 1), c = old_of_cas(&x, 7, 2);
    printf("%d %d %d\n", a, c, x);
    int read;
    __asm__ volatile("movl %1,%0" : "=r"(read) : "m"(x) : "memory");
    __asm__ volatile("movl $11,%0" : "=m"(x)::"memory");
    printf("%d %d\n", read, x);
    _Bool is_zero;
    __asm__ volatile("lock; subl %2,%0" : "+m"(x), "=@ccz"(is_zero) : "ir"(11) : "memory");
    printf("%d %d\n", is_zero, x);
    unsigned char carry, other;
    unsigned long bits[2] = {0, 2};
    long at = 65;
    __asm__ volatile("lock; btsl %2,%0; setc %1" : "+m"(x), "=q"(carry) : "ir"(3) : "memory", "cc");
    __asm__ volatile("lock btrq %2,%0\n\tsetc %1" : "+m"(*bits), "=q"(other) : "r"(at) : "memory", "cc");
    printf("%d %d %d %lu\n", carry, x, other, bits[1]);
    // Without `lock`, of memory and of a register; all flags.
    int values[] = {0, 1, -1, 2147483647, -2147483647 - 1, 5};
    for (int i = 0; i < 6; i++) {
        unsigned char le, g, l, ge, o, be, a, ns;
        int v = values[i], r = v;
        __asm__ volatile("incl %0; setle %1; seto %2" : "+m"(v), "=m"(le), "=m"(o)::"memory", "cc");
        printf("%d %d %d; ", v, le, o);
        __asm__ volatile("addl $5,%0; setg %1; setbe %2; setns %3" : "+r"(r), "=q"(g), "=q"(be), "=q"(ns)::"cc");
        printf("%d %d %d %d; ", r, g, be, ns);
        __asm__ volatile("lock negl %0; setl %1; setc %2" : "+m"(v), "=q"(l), "=q"(carry)::"memory", "cc");
        printf("%d %d %d; ", v, l, carry);
        __asm__ volatile("lock; notl %0" : "+m"(v)::"memory");
        __asm__ volatile("subl %3,%0; setge %1; seta %2" : "+m"(v), "=q"(ge), "=q"(a) : "r"(7) : "memory", "cc");
        printf("%d %d %d\n", v, ge, a);
    }
    // Registers that have no operand, and places behind an address.
    static _Alignas(16) unsigned long pair[2] = {1, 2};
    unsigned long wanted[2] = {1, 2}, set[2] = {3, 4};
    unsigned char done;
    __asm__ volatile("movq 0(%4), %%rax;"
                     "movq 8(%4), %%rdx;"
                     "lock; cmpxchg16b %0; setz %1"
                     : "+m"(*(__int128 *)pair), "=q"(done)
                     : "b"(set[0]), "c"(set[1]), "r"(wanted)
                     : "memory", "cc", "%rax", "%rdx");
    printf("%d %lu %lu\n", done, pair[0], pair[1]);
    int sum = 4;
    __asm__ volatile("xaddl %1, %0" : "+m"(x), "+r"(sum)::"memory", "cc");
    __asm__ volatile("xorl %%eax, %%eax; cpuid;" ::: "%rax", "%rbx", "%rcx", "%rdx");
    printf("%d %d\n", x, sum);
    unsigned low, high;
    __asm__ volatile("cpuid; rdtsc;" : "=a"(low), "=d"(high)::"%ebx", "%ecx", "memory");
    return 0;
}
