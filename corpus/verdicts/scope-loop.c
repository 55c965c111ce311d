// expect: memory 6
int main(void) {
    int *p = 0, sum = 0;
    for (int i = 0; i < 2; i++) {
        if (p)
            sum += *p;
        int x = 1;
        p = &x;
    }
    return sum;
}
