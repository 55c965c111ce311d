// refused: huge of 8589934592 bytes
static char huge[8ull << 30];
int main(int argc, char **argv) {
    huge[argc] = 1; /* here */
    return huge[argc + 1];
}
