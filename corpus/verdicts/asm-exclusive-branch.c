// refused: asm-exclusive-branch.c:6:5: inline assembly `1: ldxr ${0:w}, $3
// flags: --target=aarch64-linux-gnu
// A loop that leaves for another reason than what it loaded is no compare-and-swap.
static int counter;
static void add_unless(int *p, int stop, int old, int new, int failed) {
    __asm__ volatile("1: ldxr %w0, %3\n add %w1, %w0, #1\n cbnz %w4, 2f\n stxr %w2, %w1, %3\n cbnz %w2, 1b\n2:"
                     : "=&r"(old), "=&r"(new), "=&r"(failed), "+Q"(*p) : "r"(stop) : "memory");
}
int main(void) { add_unless(&counter, 0, 0, 0, 0); }
