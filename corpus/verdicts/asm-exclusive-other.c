// refused: asm-exclusive-other.c:6:5: inline assembly `1: ldxr ${0:w}, $2
// flags: --target=aarch64-linux-gnu
// A loop that leaves where a number is too small is no compare-and-swap.
static int counter;
static void decrease(int *p, int result, int failed) {
    __asm__ volatile("1: ldxr %w0, %2\n subs %w0, %w0, #1\n b.lt 2f\n stxr %w1, %w0, %2\n cbnz %w1, 1b\n2:"
                     : "=&r"(result), "=&r"(failed), "+Q"(*p)::"memory", "cc");
}
int main(void) { decrease(&counter, 0, 0); }
