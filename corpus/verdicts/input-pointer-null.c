// expect: memory 6
// It may be null.
int *__VERIFIER_nondet_pointer(void);
int main(void) {
    int *p = __VERIFIER_nondet_pointer();
    return *p;
}
