// expect: memory 7
// The index may be one past the end.
unsigned __VERIFIER_nondet_uint(void);
static int a[10];
int main(void) {
    unsigned at = __VERIFIER_nondet_uint();
    return at > 10 ? 0 : a[at];
}
