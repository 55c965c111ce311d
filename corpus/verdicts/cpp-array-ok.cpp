// expect: safe
int main() {
    int a[3] = {1, 2, 3};
    int sum = 0;
    for (int v : a) sum += v;
    return sum - 6;
}
