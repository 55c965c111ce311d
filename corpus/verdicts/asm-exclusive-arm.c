// expect: assertion 26
// models: rc11 armv8
// flags: --target=aarch64-linux-gnu
// A lock whose compare-and-swap does not acquire, and whose fence only follows a success of another one.
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
void __VERIFIER_assert(int);
static int flag, other;
static volatile int data;
static int compare(int *p, int old, int new) {
    int found, differs;
    __asm__ volatile("1: ldxr %w0, %2\n eor %w1, %w0, %w3\n cbnz %w1, 2f\n stlxr %w1, %w4, %2\n cbnz %w1, 1b\n"
                     "dmb ish\n2:"
                     : "=&r"(found), "=&r"(differs), "+Q"(*p) : "r"(old), "r"(new) : "memory");
    return found;
}
static void *writer(void *unused) {
    __atomic_store_n(&data, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    return unused;
}
static void *reader(void *unused) {
    // It fails: nothing orders what comes next.
    if (compare(&flag, 2, 3) == 1)
        __VERIFIER_assert(__atomic_load_n(&data, __ATOMIC_RELAXED) == 1);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
