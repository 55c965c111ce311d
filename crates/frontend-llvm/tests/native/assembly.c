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
    return 0;
}
