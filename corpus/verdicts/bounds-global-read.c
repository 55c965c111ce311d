// expect: memory 4
int a[2] = {1, 2}, n = 2;
int main(void) {
    return a[n];
}
