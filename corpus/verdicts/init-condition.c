// expect: memory 4
int main(void) {
    int x;
    if (x)
        return 1;
    return 0;
}
