// expect: trap 5
// models: c20
// Nobody outside of a noexcept function catches.
void fails() { throw 1; }
void quiet() noexcept { fails(); }
int main() {
    try {
        quiet();
    } catch (int) {
    }
}
