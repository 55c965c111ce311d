// expect: memory 4
int *p;
int main(void) {
    *p = 1;
    return 0;
}
