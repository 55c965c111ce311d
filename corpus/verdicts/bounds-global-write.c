// expect: memory 4
long a[3], n = 3;
int main(void) {
    a[n] = 1;
    return 0;
}
