// expect: safe
// A local variable lives until the thread that has it by reference is joined.
#include <cassert>
#include <thread>
int main() {
    int n = 1;
    std::thread t([&n] { n++; });
    t.join();
    assert(n == 2);
}
