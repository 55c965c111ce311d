// expect: safe
// models: rc11 sc
// flags: --target=aarch64-linux-gnu
// Loops of exclusive accesses are one step: a counter, an exchange, a compare-and-swap as the kernel writes it,
// and one as Concurrency Kit does.
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
void __VERIFIER_assert(int);
static int counter, locked, ticket;
static long plain;
static int add(int *p, int v) {
    int result, failed;
    __asm__ volatile("1:	ldxr	%w0, %2\n	add	%w0, %w0, %w3\n	stxr	%w1, %w0, %2\n	cbnz	%w1, 1b"
                     : "=&r"(result), "=&r"(failed), "+Q"(*p) : "r"(v));
    return result;
}
static int take_back(int *p, int v) {
    int old, new, failed;
    __asm__ volatile("1: ldaxr %w0, [%3]; sub %w1, %w4, %w0; stlxr %w2, %w1, [%3]; cbnz %w2, 1b"
                     : "=&r"(old), "=&r"(new), "=&r"(failed) : "r"(p), "r"(v) : "memory");
    return old;
}
static int exchange(int *p, int v) {
    int old, failed;
    __asm__ volatile("1: ldaxr %w0, %2\n stlxr %w1, %w3, %2\n cbnz %w1, 1b\n dmb ish"
                     : "=&r"(old), "=&r"(failed), "+Q"(*p) : "r"(v) : "memory");
    return old;
}
static int compare(int *p, int old, int new) {
    int found, differs;
    __asm__ volatile("1: ldxr %w0, %2\n eor %w1, %w0, %w3\n cbnz %w1, 2f\n stlxr %w1, %w4, %2\n cbnz %w1, 1b\n"
                     "dmb ish\n2:"
                     : "=&r"(found), "=&r"(differs), "+Q"(*p) : "r"(old), "r"(new) : "memory");
    return found;
}
static int take(int *p) {
    int found, failed;
    __asm__ volatile("1:\nldaxr %w0, [%2]\ncmp %w0, #0\nb.ne 2f\nstxr %w1, %w3, [%2]\ncbnz %w1, 1b\n2:"
                     : "=&r"(found), "=&r"(failed) : "r"(p), "r"(1) : "memory", "cc");
    return found == 0;
}
static void *thread(void *unused) {
    add(&counter, 2);
    while (!take(&locked)) {}
    plain++;
    exchange(&locked, 0);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, thread, 0);
    pthread_create(&b, 0, thread, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assert(counter == 4 && plain == 2);
    __VERIFIER_assert(compare(&ticket, 1, 5) == 0 && ticket == 0);
    __VERIFIER_assert(compare(&ticket, 0, 5) == 0 && ticket == 5);
    __VERIFIER_assert(take_back(&ticket, 3) == 5 && ticket == -2);
    __VERIFIER_assert(add(&ticket, -1) == -3);
}
