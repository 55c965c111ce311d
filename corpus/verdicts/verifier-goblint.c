// expect: assertion 12
// Goblint's names for assertions, assumptions and hints.
int __VERIFIER_nondet_int(void);
void __goblint_assume(_Bool);
void __goblint_check(_Bool);
void __goblint_split_begin(int);
int main(void) {
    int x = __VERIFIER_nondet_int();
    __goblint_assume(x > 3);
    __goblint_split_begin(x);
    __goblint_check(x >= 4);
    __goblint_check(x != 5);
    return 0;
}
