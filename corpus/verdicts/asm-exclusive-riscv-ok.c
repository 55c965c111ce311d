// expect: safe
// models: rc11 sc
// flags: --target=riscv64-linux-gnu
// The same with `lr` and `sc`, as the kernel writes them.
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
void __VERIFIER_assert(int);
static int locked, plain;
static long counter = -1;
static int compare(int *p, int old, int new) {
    int found, failed;
    __asm__ volatile("0:	lr.w %0, %2\n	bne  %0, %z3, 1f\n	sc.w.rl %1, %z4, %2\n	bnez %1, 0b\n"
                     "	fence rw, rw\n1:\n"
                     : "=&r"(found), "=&r"(failed), "+A"(*p) : "rJ"((long)old), "rJ"(new) : "memory");
    return found;
}
static long exchange(long *p, long v) {
    long old, failed;
    __asm__ volatile("0: lr.d.aq %0, %2\n sc.d.rl %1, %3, %2\n bnez %1, 0b"
                     : "=&r"(old), "=&r"(failed), "+A"(*p) : "r"(v) : "memory");
    return old;
}
static long add_five(long *p) {
    long old, new, failed;
    __asm__ volatile("0: lr.d %0, %3\n addi %1, %0, 5\n sc.d %2, %1, %3\n bnez %2, 0b"
                     : "=&r"(old), "=&r"(new), "=&r"(failed), "+A"(*p)::"memory");
    return new;
}
static void *thread(void *unused) {
    while (compare(&locked, 0, 1)) {}
    plain++;
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, thread, 0);
    pthread_create(&b, 0, thread, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assert(plain == 2);
    __VERIFIER_assert(exchange(&counter, 7) == -1 && counter == 7);
    __VERIFIER_assert(add_five(&counter) == 12 && counter == 12);
    __VERIFIER_assert(compare(&plain, -1, 3) == 2 && plain == 2);
}
