// expect: safe
int main(void) {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        int x = i, *p = &x;
        sum += *p;
    }
    return sum - 1;
}
