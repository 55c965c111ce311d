// expect: trap 4
int (*f)(void);
int main(void) {
    return f();
}
