// expect: safe
int main(void) {
    int a[2] = {1, 2}, sum = 0;
    for (int *p = a; p != a + 2; p++) sum += *p;
    return sum - 3;
}
