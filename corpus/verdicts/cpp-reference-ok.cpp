// expect: safe
const int &pick(const int &a) { return a; }
int main() {
    int x = 0;
    return pick(x);
}
