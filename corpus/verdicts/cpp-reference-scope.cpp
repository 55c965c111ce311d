// expect: memory 9
const int &pick(const int &a) { return a; }
int main() {
    const int *p;
    {
        int x = 1;
        p = &pick(x);
    }
    return *p;
}
