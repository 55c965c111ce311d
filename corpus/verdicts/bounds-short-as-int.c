// expect: memory 4
int main(void) {
    short s = 1;
    return *(int *)&s;
}
