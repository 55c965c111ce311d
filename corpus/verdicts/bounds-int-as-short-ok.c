// expect: safe
int main(void) {
    int i = 1;
    return *(short *)&i - 1;
}
