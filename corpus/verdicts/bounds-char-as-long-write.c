// expect: memory 4
int main(void) {
    char c;
    *(long *)&c = 0;
    return c;
}
