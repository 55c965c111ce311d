// expect: memory 3
int main(void) {
    return *(volatile int *)0x12345678;
}
