// expect: safe
// Old C: a function with a result returns without one, and nobody uses it.
int called;
int note(int n) {
    if (n > 0) return;
    called = 1;
}
int main(void) {
    note(0);
    note(1);
    return called == 1 ? 0 : 1;
}
