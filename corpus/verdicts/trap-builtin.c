// expect: trap 3
int main(void) {
    __builtin_trap();
}
